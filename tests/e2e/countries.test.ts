import { holdRequests, startedJoin } from './arrange.ts';
import { expect, test } from './fixtures.ts';
import { fillDetails, save } from './steps.ts';

const DETAILS = '/registration/student-details';

test('another country brings its states when it is chosen, and a reload keeps both', async ({ page }) => {
  await startedJoin(page);
  const lists: string[] = [];
  page.on('request', (request) => {
    if (request.url().includes('/static/countries/')) lists.push(request.url().split('/').at(-1)!);
  });
  await page.goto(DETAILS);
  await fillDetails(page);
  expect(lists).toEqual([]);
  await page.getByLabel('Country').selectOption('Germany');
  const state = page.getByRole('combobox', { name: 'State/Province' });
  await expect(state).toHaveValue('');
  await state.selectOption('Bayern');
  expect(lists).toEqual(['DE.json']);
  await page.reload();
  await expect(state).toHaveValue('Bayern');
  await expect(page.getByLabel('Country')).toHaveValue('Germany');
  await save(page);
});

test('a state whose list cannot be had is typed', async ({ page, complaints }) => {
  complaints.expectFailedRequests();
  await startedJoin(page);
  await page.route('**/static/countries/**', (route) => route.abort('connectionrefused'));
  await page.goto(DETAILS);
  await fillDetails(page);
  await page.getByLabel('Country').selectOption('Germany');
  await page.getByRole('textbox', { name: 'State/Province', exact: true }).fill('Bayern');
  await save(page);
});

test('while a country’s states are on their way their field is there, and says so', async ({ page }) => {
  await startedJoin(page);
  const arrive = await holdRequests(page, '**/static/countries/**');
  await page.goto(DETAILS);
  await fillDetails(page);
  await page.getByLabel('Country').selectOption('Germany');
  const state = page.getByRole('combobox', { name: 'State/Province' });
  await expect(state).toContainText('Loading…');
  arrive();
  await expect(state).toContainText('Bayern');
  await expect(state).toHaveValue('');
});
