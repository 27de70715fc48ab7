import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cellFault, contactIdFault, csvLine, textOfCell } from './csv.ts';

test('a cell with a comma, a quote, a line end or space around it is quoted', () => {
  assert.equal(
    csvLine(['plain', 'a,b', 'say "hi"', 'two\nlines', ' x', '']),
    'plain,"a,b","say ""hi""","two\nlines"," x",\r\n',
  );
});

test('a cell that a spreadsheet would run is made text, and a number stays a number', () => {
  assert.equal(
    csvLine(['=1+2', '+1 555', '-Bob', '@sum', '\tx', '\rx', '-65.00', '65', '-5', '-1-1']),
    `'=1+2,'+1 555,'-Bob,'@sum,'\tx,"'\rx",-65.00,65,-5,'-1-1\r\n`,
  );
});

test('the text of a cell is read as it was written, with no apostrophe of ours', () => {
  for (const text of ['=1+2', '+1 555', '@sum', '-65.00', '-5x', "O'Neill", "'quoted'", "'", '', '\tx'])
    assert.equal(textOfCell(csvLine([text]).slice(0, -2)), text);
});

test("a spreadsheet's errors and placeholders are no values, and what people are called is one", () => {
  const cases = (texts: readonly string[], isName: boolean) =>
    texts.map((text) => cellFault(text, { isName }));
  for (const text of [
    '#NAME?',
    '#REF!',
    '#N/A',
    '#VALUE!',
    '#DIV/0!',
    '#NUM!',
    '#NULL!',
    '#SPILL!',
    '#GETTING_DATA',
    '#BEZUG!',
    '#NV',
    '#ИМЯ?',
    '#####',
  ])
    assert.match(cellFault(text, { isName: true })!, /is an error of the spreadsheet/, text);
  for (const text of [
    'NULL',
    'null',
    '(null)',
    '<null>',
    'N/A',
    'n/a',
    'NA',
    'undefined',
    'None',
    'NaN',
    '-',
    '--',
    '—',
    '?',
    '.',
    '\\N',
    '(blank)',
    '[object Object]',
  ])
    assert.match(cellFault(text, { isName: true })!, /is no value/, text);
  assert.match(cellFault('Null', { isName: false })!, /is no value/);
  const names = [
    '',
    'Null',
    'Na',
    'Nil',
    'Nan',
    'Nullmeier',
    'Ng',
    'O',
    '#1 High School',
    'J.',
    'Anne-Marie',
  ];
  assert.deepEqual(
    cases(names, true),
    names.map(() => null),
  );
});

test('what a spreadsheet made of a contact id or a code is told from other slips', () => {
  for (const text of [
    '1.02E+02',
    '1,02E+11',
    '1e5',
    '101.0',
    '1,234',
    '1 234',
    '-101',
    '1-Mar',
    'Mar-26',
    '2026-11-28',
    '6/7/2026',
  ])
    assert.match(contactIdFault(text)!, /is not a contact id but what a spreadsheet made of one/, text);
  for (const text of ['', 'six', '101a', "'101", '123456789012345678901a'])
    assert.match(contactIdFault(text)!, /is not a contact id: it has digits only/, text);
  assert.equal(contactIdFault('101'), null);
});
