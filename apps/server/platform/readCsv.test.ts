import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { mutilatedLine } from '../../../tests/harness/mutilatedLines.ts';
import { temporaryFolder } from '../../../tests/harness/temporaryFolder.ts';
import { type CsvColumns, NotCsv, readCsv, readRows } from './readCsv.ts';

const columns = { needed: ['code', 'contactId', 'lastName'], optional: ['expiresAt'] } as const;

/** Reads a file, given as text or bytes, in pieces of `size` bytes. Returns a line for each row: its number, then values or fault. */
async function read(
  file: string | Buffer,
  { size = 7, ...given }: { size?: number } & CsvColumns<string> = columns,
): Promise<string[]> {
  const bytes = Buffer.from(file as string);
  async function* pieces() {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  }
  const rows: string[] = [];
  for await (const { line, values, fault } of (await readRows(pieces(), 'file.csv', given)).rows)
    rows.push(`${line} ${fault ?? Object.values(values!).join('|').replace(/\|+$/, '')}`);
  return rows;
}

const HEADER = 'code,contactId,lastName';
const TWO = ['2 A1|101|Lee', '3 B2|102|Ng'];
const NOT_CLOSED =
  'opens a quote that is not closed before the line ends: close it, or write a quote within a cell twice. No cell can have a line break.';
const IN_THE_MIDDLE =
  'has a quote in the middle of a cell: put quotes around the whole cell, and write a quote within it twice.';

test('two rows are read from whatever a spreadsheet writes', async () => {
  const text = `${HEADER}\nA1,101,Lee\nB2,102,Ng\n`;
  const with_ = (delimiter: string) => text.replaceAll(',', delimiter);
  const utf16 = (given: string) => Buffer.from(given, 'utf16le');
  for (const [what, file] of [
    ['LF', text],
    ['no line end at the end', text.trimEnd()],
    ['CR LF', text.replaceAll('\n', '\r\n')],
    ['CR', text.replaceAll('\n', '\r')],
    ['semicolons', with_(';')],
    ['tabs', with_('\t')],
    ['every cell in quotes', text.replaceAll(/[^,\n]+/g, '"$&"')],
    ['spaces around cells and quotes', text.replaceAll(/[^,\n]+/g, ' "$&" ')],
    ['a byte order mark', `\ufeff${text}`],
    ['two byte order marks', `\ufeff\ufeff${text}`],
    ['a byte order mark and quotes', `\ufeff${text.replaceAll(/[^,\n]+/g, '"$&"')}`],
    ['UTF-16 as Excel writes "Unicode text"', utf16(`\ufeff${with_('\t').replaceAll('\n', '\r\n')}`)],
    ['UTF-16 without a byte order mark', utf16(text)],
    ['big-endian UTF-16', utf16(`\ufeff${text}`).swap16()],
    ['big-endian UTF-16 without a byte order mark', utf16(text).swap16()],
    ['empty columns at the end', text.replaceAll('\n', ',,,\n')],
    ['empty columns at the end of the rows', text.replaceAll(/(\d),(\w+)\n/g, '$1,$2,,\n')],
    ['empty rows at the end', `${text},,\n\n  \n"",,\n,,,,,,\n`],
    ['a header in capitals', text.replace(HEADER, 'CODE,CONTACTID,LASTNAME')],
    ['a header in words', text.replace(HEADER, ' Code ,"Contact ID",last_name')],
    ['a header with what nobody sees', text.replace(HEADER, 'co\u00adde,\u200bcontactId,lastName\u00a0')],
    ['another order', 'lastName,code,contactId\nLee,A1,101\nNg,B2,102'],
    ['another column', 'lastName,note,code,contactId\nLee,#REF!,A1,101\nNg,\ufffd,B2,102'],
    [
      'what nobody sees in its cells',
      text.replaceAll('1,1', '1\u200b,\u202a1').replace('Ng', '\u00a0N\u2060g'),
    ],
  ] as const)
    for (const size of [1, 3, 10_000]) assert.deepEqual(await read(file, { ...columns, size }), TWO, what);
  for (const first of ['sep=;', 'SEP=;', '"sep=;"', '\ufeffsep=;;;'])
    assert.deepEqual(await read(`${first}\n${with_(';')}`), ['3 A1|101|Lee', '4 B2|102|Ng'], first);
  assert.equal((await read(`sep=\t\r\n${with_('\t')}`)).length, 2);
  assert.equal((await read(`sep=|\r\n${with_('|')}`)).length, 2);
});

test('a faulty line is named by its number, and those after it are read', async () => {
  for (const [line, expected] of [
    ['A1,101,"Lee', NOT_CLOSED],
    ['A1,"101,Lee', NOT_CLOSED],
    ['"A1,101,Lee', NOT_CLOSED],
    ['"A1"",101,Lee', NOT_CLOSED],
    ['A1,101,Lee "the', IN_THE_MIDDLE],
    ['A1,101,"Lee"s', IN_THE_MIDDLE],
    ['A1,101,Lee"', IN_THE_MIDDLE],
    ['A1,101,""Lee""', IN_THE_MIDDLE],
    ['A1,101,"Lee ""L"" Ng"', 'A1|101|Lee "L" Ng'],
    ['A1,101,"Lee, Ng; Li"', 'A1|101|Lee, Ng; Li'],
    ['A1,101,""', 'A1|101'],
    ["A1,101,'=Lee", 'A1|101|=Lee'],
    ['A1,101,Lee,2027-06-30', 'A1|101|Lee|2027-06-30'],
    ['A1,101', 'has 2 fields, not 4.'],
    ['A1,101,Lee,2027-06-30,x', 'has 5 fields, not 4.'],
    ['A1,101,Lee,#REF!', 'expiresAt: "#REF!" is an error of the spreadsheet: correct it there.'],
    ['A1,NULL,Lee', 'contactId: "NULL" is no value: leave the cell empty.'],
    ['A1,101,NULL', 'lastName: "NULL" is no value: leave the cell empty.'],
    ['A1,101,Null', 'A1|101|Null'],
    [`A1,101,${'x'.repeat(100_000)}`, 'is longer than 100000 characters.'],
    [
      'A1,101,L\ufffde',
      'is not encoded in UTF-8, so that some of its letters are lost. In Excel, save the file as "CSV UTF-8".',
    ],
  ] as const)
    for (const size of [line.length > 1_000 ? 30_000 : 5, 200_000])
      assert.deepEqual(
        await read(`${HEADER},expiresAt\nZ0,100,Ada\n${line}\nB2,102,Ng\nC3,103,Li`, { ...columns, size }),
        ['2 Z0|100|Ada', `3 ${expected}`, '4 B2|102|Ng', '5 C3|103|Li'],
        line.slice(0, 50),
      );
});

test('a quote that is closed lines later swallows none of them', async () => {
  assert.deepEqual(await read(`${HEADER}\nA1,101,"Lee\nB2,102,Ng\nC3,103,Li"\nD4,104,Yu`), [
    `2 ${NOT_CLOSED}`,
    '3 B2|102|Ng',
    `4 ${IN_THE_MIDDLE}`,
    '5 D4|104|Yu',
  ]);
});

test('a file that has not the columns, or is no text, is refused with a sentence', async () => {
  const must = 'The first line of file.csv must name the columns code,contactId,lastName; ';
  for (const [file, sentence] of [
    ['', 'file.csv is empty: its first line must name the columns code,contactId,lastName.'],
    ['\n\n', 'file.csv is empty: its first line must name the columns code,contactId,lastName.'],
    ['sep=;\n', 'file.csv is empty: its first line must name the columns code,contactId,lastName.'],
    ['A1,101,Lee\nB2,102,Ng', `${must}missing: code, contactId, lastName.`],
    ['code;lastName\nA1;Lee', `${must}missing: contactId.`],
    ['code,contactId,lastName,Contact ID\n', 'The first line of file.csv names the column contactId twice.'],
    ['"code,contactId,lastName\n', `The first line of file.csv ${NOT_CLOSED}`],
    [
      Buffer.from('504b030414000600', 'hex'),
      'file.csv is a workbook or an archive: in Excel, save it as "CSV UTF-8".',
    ],
    [
      Buffer.from('d0cf11e0a1b11ae1', 'hex'),
      'file.csv is a workbook or an archive: in Excel, save it as "CSV UTF-8".',
    ],
  ] as const)
    await assert.rejects(read(file as string), (error: Error) => {
      assert.equal(error.message, sentence);
      return error instanceof NotCsv;
    });
  await assert.rejects(
    read(`${HEADER},colour,shape\n`, { ...columns, refusesOthers: true }),
    /^Error: The first line of file\.csv must name the columns code,contactId,lastName; not known: colour, shape\.$/,
  );
});

test('every filled line of a mutilated file is one row, and no value has a line break', async () => {
  const end = fc.constantFrom('\n', '\r\n', '\r');
  await fc.assert(
    fc.asyncProperty(
      fc.array(mutilatedLine),
      end,
      fc.integer({ min: 1, max: 90 }),
      async (lines, ends, size) => {
        const header = 'contactId,code,firstName,lastName,email,school';
        const needed = header.split(',');
        const file = [header, ...lines.map(({ text }) => text)].join(ends);
        const rows = await read(file, { needed, size });
        const filled = lines.flatMap(({ isFilled }, index) => (isFilled ? [index + 2] : []));
        assert.deepEqual(
          rows.map((row) => Number.parseInt(row, 10)),
          filled,
        );
        for (const row of rows) assert.doesNotMatch(row, /[\r\n]/);
      },
    ),
  );
});

test('a file that is not there is refused with a sentence, and how much was read is told', async (t) => {
  const folder = temporaryFolder(t);
  await assert.rejects(readCsv(join(folder, 'absent.csv'), columns), /absent\.csv cannot be read\.$/);
  await assert.rejects(readCsv(folder, columns), NotCsv);
  const path = join(folder, 'file.csv');
  writeFileSync(path, `${HEADER}\nA1,101,Lee\n`);
  const { rows, bytesRead } = await readCsv(path, columns);
  for await (const { fault } of rows) assert.equal(fault, null);
  assert.equal(bytesRead(), 35);
});
