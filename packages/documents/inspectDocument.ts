import type { Bytes } from './bytes.ts';
import { doc } from './doc.ts';
import type { DocumentType } from './document.ts';
import { docx } from './docx.ts';
import { type Fault, Unacceptable } from './faults.ts';
import { jpeg } from './jpeg.ts';
import { pdf } from './pdf.ts';
import { png } from './png.ts';
import { formatOf, HEAD_BYTES } from './signature.ts';

export type Inspection = { type: DocumentType } | { fault: Fault };

const inspectors = { pdf, jpeg, png, doc, docx };

/**
 * Returns the type of a file according to its content, or the reason why the file is refused. Refuses an incomplete file, a file
 * that opens only with a password, and a file that also contains a second document, a program or a web page.
 */
export async function inspectDocument(bytes: Bytes): Promise<Inspection> {
  let failure: unknown;
  const read: Bytes['read'] = async (...range) => {
    try {
      return await bytes.read(...range);
    } catch (error) {
      failure = error;
      throw error;
    }
  };
  try {
    const format = formatOf(await read(0, HEAD_BYTES));
    return { type: await inspectors[format]({ size: bytes.size, read }) };
  } catch (error) {
    // If reading failed, the error of the read is thrown, since a library may have mistaken it for a fault of the file.
    if (failure !== undefined) throw failure;
    if (error instanceof Unacceptable) return { fault: error.fault };
    throw error;
  }
}
