import { holdRequests, startedJoin } from './arrange.ts';
import { expect, test } from './fixtures.ts';
import { fillDetails, save } from './steps.ts';

test('another country brings its states when it is chosen, says that they are on their way, and a reload keeps both; a state whose list cannot be had is typed', async ({
  page,
  complaints,
}) => {
  complaints.expectFailedRequests();
  await startedJoin(page);
  const lists: string[] = [];
  page.on('request', (request) => {
    if (request.url().includes('/static/countries/')) lists.push(request.url().split('/').at(-1)!);
  });
  await page.goto('/registration/student-details');
  await fillDetails(page);
  expect(lists).toEqual([]);
  const country = page.getByLabel('Country');
  await page.route('**/static/countries/*/IN.json', (route) => route.abort('connectionrefused'));
  await country.selectOption('India');
  await page.getByRole('textbox', { name: 'State/Province', exact: true }).fill('Odisha');

  const arrive = await holdRequests(page, '**/static/countries/*/DE.json');
  await country.selectOption('Germany');
  const state = page.getByRole('combobox', { name: 'State/Province' });
  await expect(state).toContainText('Loading…');
  arrive();
  await expect(state).toContainText('Bayern');
  await expect(state).toHaveValue('');
  await state.selectOption('Bayern');
  expect(lists).toEqual(['IN.json', 'DE.json']);
  await page.reload();
  await expect(state).toHaveValue('Bayern');
  await expect(country).toHaveValue('Germany');
  await save(page);
});
