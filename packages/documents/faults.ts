import { ACCEPTED_DOCUMENTS, DOCUMENT_EMPTY, DOCUMENT_HEIC, documentType } from './document.ts';

/** Sentences for refused files, each with advice on what to do. */
export const documentFaults = {
  empty: DOCUMENT_EMPTY,
  heic: DOCUMENT_HEIC,
  program: `This file is a program and not a document, whatever its name says. Please choose a ${ACCEPTED_DOCUMENTS} file.`,
  webPage: 'This file is a web page. Please print it to PDF in your browser, and upload the PDF.',
  unknown: `The content of this file is not what its name says. Please choose a ${ACCEPTED_DOCUMENTS} file.`,
  twoInOne:
    'This file contains more than the document, which we cannot accept. Please print or save it as a new PDF, and upload that.',
  pdfProtected:
    'This PDF is protected with a password. Please save or print it as a PDF without one, or upload a clear photo of it.',
  pdfBroken:
    'This PDF is damaged or incomplete. Please download or save it again, check that it opens, and upload it once more.',
  pdfTooLarge:
    'This PDF needs to be repaired, and is too large for us to do that. Please open it, save or print it as a new PDF, and upload that.',
  imageBroken:
    'This picture is damaged or incomplete. Please save it again or take another photo, and upload that.',
  imageCrowded:
    'This picture is made of far more parts than cameras and scanners write, and we cannot check them all. Please take another photo, or a screenshot of it, and upload that.',
  wordProtected: 'This Word document is protected with a password. Please save it without one, or as a PDF.',
  wordMacros: 'This Word document contains macros. Please save it as a PDF, and upload that.',
  wordBroken: 'This Word document is damaged or incomplete. Please save it again, or as a PDF.',
  notWord: `This is an archive or another Office file, not a Word document. Please choose a ${ACCEPTED_DOCUMENTS} file.`,
  wordTooLarge:
    'This Word document is larger than we can check. Please save it as .docx or as a PDF, and upload that.',
  wordCrowded:
    'This Word document is made of far more parts than we can check. Please save it as a PDF, and upload that.',
  bomb: 'This Word document unpacks to far more than its size. Please save it as a PDF, and upload that.',
  unchecked:
    'Checking this file takes too long. Please save or print it as a new PDF, or upload a clear photo of it.',
} as const;
export type Fault = keyof typeof documentFaults;

const TYPE_REFUSED = `This type of file is not accepted. Please choose a ${ACCEPTED_DOCUMENTS} file.`;

/** Returns the sentence for a refused file with this name. */
export function faultSentence(fault: Fault, fileName: string): string {
  if (fault !== 'unknown' && fault !== 'program') return documentFaults[fault];
  if (/\.(heic|heif|avif)$/i.test(fileName)) return documentFaults.heic;
  return documentType(fileName) === null ? TYPE_REFUSED : documentFaults[fault];
}

export class Unacceptable extends Error {
  readonly fault: Fault;
  constructor(fault: Fault) {
    super(documentFaults[fault]);
    this.fault = fault;
  }
}
