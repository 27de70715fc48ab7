/** The accepted document types (specification, section 5), each with its file name endings. */
export const acceptedDocuments = {
  'application/pdf': ['.pdf'],
  'image/jpeg': ['.jpg', '.jpeg'],
  'image/png': ['.png'],
  'application/msword': ['.doc'],
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': ['.docx'],
} as const;
export type DocumentType = keyof typeof acceptedDocuments;

/**
 * Further endings of picture files. The file dialog offers them, since a file's content decides whether it is accepted. HEIC is
 * left out, so that iPhones send JPEG.
 */
export const otherEndings = ['.jpe', '.jfif', '.jif', '.pjpeg', '.pjp'];

export const ACCEPTED_DOCUMENTS = 'PDF, JPEG, PNG or Word (.doc, .docx)';
export const DOCUMENT_EMPTY = 'This file is empty. Please choose another one.';
export const DOCUMENT_HEIC =
  'This is a HEIC photo, which many computers cannot open. Please send it as JPEG: on an iPhone choose “Most Compatible” under Settings, Camera, Formats and take it again, or send a screenshot of it.';
export const DOCUMENT_UNREADABLE = 'This file can no longer be read. Please choose it again.';
export const NOT_A_FILE =
  'What you dropped is not a file. Please save it on this device first, then choose it or drop it here.';
/** How many minutes a QR code for uploading by phone stays valid. */
export const UPLOAD_LINK_MINUTES = 60;
export const UPLOAD_LINK_OVER =
  'This code has expired, or is not complete. Please make a new one on your computer and scan that.';
export const UPLOAD_FAILED = 'Failed to upload file.';
export const UPLOAD_STOPPED = 'Your file stopped arriving. Please check your connection, and send it again.';
export const NO_CONTACT_ID = 'No contact ID provided in the URL!';

/** The reasons for which staff reject a transcript, each with the sentence for the applicant. */
export const rejectionReasons = {
  unreadable: 'We could not read your transcript. Please upload a sharper photo, or a PDF.',
  'not-a-transcript':
    'What you uploaded is neither a transcript nor test scores. Please upload one of those.',
  'name-differs':
    'The name on your transcript is not the one you gave us. Please upload one in your name, or write to us.',
  incomplete: 'Some pages of your transcript are missing. Please upload all of it in one file.',
  outdated: 'Your transcript is not a recent one. Please upload one from this year or last year.',
  'below-requirement':
    'Your transcript does not show that you meet the requirements. If your test scores do, please upload them.',
} as const;
export type RejectionReason = keyof typeof rejectionReasons;
export const REJECTED_FINALLY =
  'We could not confirm that you are eligible, so we are refunding your membership fee. Please write to us if you think this is a mistake.';
/** The sentence for a final rejection without a refund of the membership, for example after a lost dispute. */
export const REJECTED_WITHOUT_REFUND =
  'We could not confirm that you are eligible. Please write to us about your membership, or if you think this is a mistake.';

/** The sentence for a transcript that arrives when its membership has ended without a final rejection. */
export const TRANSCRIPT_NOT_NEEDED =
  'This membership has ended, so a transcript is no longer needed. Please write to us if you think this is a mistake.';

/** Returns the sentence for the applicant about a final rejection. */
export function finalRejection({ isReturned }: { isReturned: boolean }): string {
  return isReturned ? REJECTED_FINALLY : REJECTED_WITHOUT_REFUND;
}

/** Returns the media type for a file's name; null when its ending is not accepted. */
export function documentType(fileName: string): DocumentType | null {
  const ending = /\.[^.]+$/.exec(fileName.toLowerCase())?.[0];
  for (const [type, endings] of Object.entries(acceptedDocuments)) {
    if (ending && (endings as readonly string[]).includes(ending)) return type as DocumentType;
  }
  return null;
}

const NAME_MAX_LENGTH = 255;
const ENDINGS = [...Object.values(acceptedDocuments).flat(), ...otherEndings, '.heic', '.heif', '.avif'];

/**
 * Returns the name under which a file of this type is stored: the sender's name, but safe to display and with an ending that
 * opens it. It has no folders, line breaks, control characters, characters that change the direction of text, or invisible
 * characters. It has at most 255 characters, and is never used as a path.
 */
export function documentName(given: string, type: DocumentType): string {
  const name = given
    .replace(/^.*\//s, '')
    // On Windows, a backslash separates folders; elsewhere, it may be part of a name.
    .replace(/^([A-Za-z]:|\\|\.{1,2}\\).*\\/s, '')
    .replace(/[\t\r\n]+/g, ' ')
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\u00ad\u200b\u2060\ufeff]/gu, '')
    .trim()
    // Windows drops dots and spaces at the end of a name.
    .replace(/(?<![.\s])[.\s]+$/, '');
  const ending = ENDINGS.find((known) => name.toLowerCase().endsWith(known)) ?? '';
  const opens =
    documentType(name) === type ? name.slice(name.length - ending.length) : acceptedDocuments[type][0];
  const stem = name.slice(0, name.length - ending.length) || 'document';
  return `${stem.slice(opens.length - NAME_MAX_LENGTH)}${opens}`.toWellFormed();
}

/** Returns the sentence about files that were dropped together with the accepted one, or while it was being sent. */
export function othersLeftOut(firstName: string): string {
  return `Only ${firstName} was used, since files are sent one at a time. The others were not sent.`;
}

/** Returns a size as the list of uploads shows it: "12.34 KB", 1 KB being 1024 bytes (specification, section 2). */
export function sizeInKilobytes(bytes: number): string {
  return `${(bytes / 1024).toFixed(2)} KB`;
}

/** Returns a size for a sentence: "2.9 MB", 1 MB being 1024 KB. */
function sizeInWords(bytes: number): string {
  return `${(bytes / (1024 * 1024)).toFixed(1)} MB`;
}

/** Returns the sentence for a file of more than `maxBytes`, the most that the server's settings allow. */
export function fileTooLarge(maxBytes: number): string {
  const most =
    maxBytes < 1024 * 1024
      ? `${Math.floor(maxBytes / 1024)} KB`
      : `${Math.floor(maxBytes / (1024 * 1024))} MB`;
  return `This file is too large. The limit is ${most}.`;
}

/** For a file with fewer bytes, the sentence does not say that it is too large, since this is hardly the reason. */
const SMALL_BYTES = 1024 * 1024;

/** Returns the sentence for a file that a proxy in front of the server refused as too large (413). */
export function uploadTooLarge(bytes: number): string {
  return bytes < SMALL_BYTES
    ? `${UPLOAD_FAILED} It was refused on its way to us. Please try again, or email it to us.`
    : `${UPLOAD_FAILED} It has ${sizeInWords(bytes)}, which is more than our server takes. Please send a smaller one, such as a photo of lower resolution or fewer pages at once, or email it to us.`;
}

/** Returns the sentence for an upload whose connection was closed, as some proxies do when a body is too large. */
export function uploadCut(bytes: number): string {
  const cut = `${UPLOAD_FAILED} The connection was cut while it was being sent. Please try again.`;
  return bytes < SMALL_BYTES
    ? cut
    : `${cut} If that happens again, its ${sizeInWords(bytes)} may be too much: send a smaller one, or email it to us.`;
}
