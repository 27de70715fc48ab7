import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  acceptedDocuments,
  type DocumentType,
  documentName,
  documentType,
  fileTooLarge,
  sizeInKilobytes,
  uploadCut,
  uploadTooLarge,
} from './document.ts';

const names: [string, string | null][] = [
  ['transcript.pdf', 'application/pdf'],
  ['Transcript.PDF', 'application/pdf'],
  ['scan.jpg', 'image/jpeg'],
  ['scan.jpeg', 'image/jpeg'],
  ['scan.png', 'image/png'],
  ['old.doc', 'application/msword'],
  ['new.docx', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
  ['photo.heic', null],
  ['transcript.pdf.exe', null],
  ['pdf', null],
  ['', null],
];
for (const [name, type] of names)
  test(`${JSON.stringify(name)} is ${type ?? 'not accepted'}`, () => {
    assert.equal(documentType(name), type);
  });

const [PDF, JPEG, PNG, DOC, DOCX] = Object.keys(acceptedDocuments) as DocumentType[];
const kept: [string, DocumentType, string][] = [
  ['transcript.pdf', PDF!, 'transcript.pdf'],
  ['Transcript.PDF', PDF!, 'Transcript.PDF'],
  ['scan.JPEG', JPEG!, 'scan.JPEG'],
  ['scan.jfif', JPEG!, 'scan.jpg'],
  ['scan.JPE', JPEG!, 'scan.jpg'],
  ['IMG_1.HEIC', JPEG!, 'IMG_1.jpg'],
  ['scan.jpg', PDF!, 'scan.pdf'],
  ['scan.jpeg', PNG!, 'scan.png'],
  ['grades.doc', DOCX!, 'grades.docx'],
  ['grades.docx', DOC!, 'grades.doc'],
  ['transcript', PDF!, 'transcript.pdf'],
  ['transcript.pdf.', PDF!, 'transcript.pdf'],
  ['transcript.pdf. .', PDF!, 'transcript.pdf'],
  ['transcript.pdf.exe', PDF!, 'transcript.pdf.exe.pdf'],
  ['Grades 3.5', PDF!, 'Grades 3.5.pdf'],
  ['.pdf', PDF!, 'document.pdf'],
  ['', PDF!, 'document.pdf'],
  ['...', JPEG!, 'document.jpg'],
  ['my "official" transcript.pdf', PDF!, 'my "official" transcript.pdf'],
  ["O'Brien; 100% ‘final’.pdf", PDF!, "O'Brien; 100% ‘final’.pdf"],
  ['Fall\\Spring.pdf', PDF!, 'Fall\\Spring.pdf'],
  ['C:\\Users\\me\\transcript.pdf', PDF!, 'transcript.pdf'],
  ['\\\\server\\me\\transcript.pdf', PDF!, 'transcript.pdf'],
  ['..\\..\\transcript.pdf', PDF!, 'transcript.pdf'],
  ['../../transcript.pdf', PDF!, 'transcript.pdf'],
  ['fall\r\nspring.pdf', PDF!, 'fall spring.pdf'],
  ['transcript.pdf\u200b', PDF!, 'transcript.pdf'],
  ['transcript\u202efdp.exe', PDF!, 'transcriptfdp.exe.pdf'],
  ['नक़्ल 🎓.pdf', PDF!, 'नक़्ल 🎓.pdf'],
  [`${'a'.repeat(300)}.jfif`, JPEG!, `${'a'.repeat(251)}.jpg`],
];
for (const [given, type, name] of kept)
  test(`${JSON.stringify(given.slice(-40))} with the content of ${type} is kept as ${name.slice(-40)}`, () => {
    assert.equal(documentName(given, type), name);
    assert.equal(documentType(name), type);
  });

test('sizes are in KB of 1024 bytes with two decimals', () => {
  assert.equal(sizeInKilobytes(12_645), '12.35 KB');
  assert.equal(sizeInKilobytes(1024), '1.00 KB');
});

test('the most that a file may have is never told as more than it is', () => {
  for (const [bytes, most] of [
    [99_000_000, '94 MB'],
    [1_048_576, '1 MB'],
    [1_048_575, '1023 KB'],
  ] as const)
    assert.equal(fileTooLarge(bytes), `This file is too large. The limit is ${most}.`);
});

test('a file that is refused on its way is told with its size and what to do', () => {
  assert.match(
    uploadTooLarge(3_000_000),
    /^Failed to upload file\. It has 2\.9 MB, .* Please send a smaller one/,
  );
  assert.match(uploadCut(3_000_000), /its 2\.9 MB may be too much: send a smaller one/);
});

test('a small file is not said to be too large, however it was refused', () => {
  for (const bytes of [1, 1024, 700_000])
    for (const sentence of [uploadTooLarge(bytes), uploadCut(bytes)])
      assert.doesNotMatch(sentence, /[KM]B|smaller|too much/);
});
