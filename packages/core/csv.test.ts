import assert from 'node:assert/strict';
import { test } from 'node:test';
import { csvLine, textOfCell } from './csv.ts';

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
