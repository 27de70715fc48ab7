import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createInflateRaw } from 'node:zlib';
import { DOCUMENT_EMPTY, type DocumentType } from '#core/document.ts';
import { documentFaults, inspectDocument } from '#core/inspectDocument.ts';
import { Refusal } from '../http/refusal.ts';

const PIECE = 65_536;

/** What an arrived file is by its content. Throws its sentence when it cannot be taken. Constant memory. */
export async function inspectFile(file: FileHandle, size: number): Promise<DocumentType> {
  const inspection = await inspectDocument({
    size,
    async read(start, length) {
      const buffer = Buffer.allocUnsafe(Math.max(0, Math.min(length, size - start)));
      const { bytesRead } = await file.read(buffer, 0, buffer.length, start);
      return buffer.subarray(0, bytesRead);
    },
    inflatedSize: (start, length, most) => inflatedSize(file, start, length, most),
  });
  if ('type' in inspection) return inspection.type;
  const sentence = documentFaults[inspection.fault];
  throw new Refusal(sentence === DOCUMENT_EMPTY ? 400 : 415, sentence);
}

/** Counts what a deflated part becomes, and keeps nothing of it. What cannot be inflated ends the count. */
async function inflatedSize(file: FileHandle, start: number, length: number, most: number): Promise<number> {
  const inflated = createInflateRaw();
  const packed = pipeline(Readable.from(piecesOf(file, start, length)), inflated).catch(() => {});
  let size = 0;
  try {
    for await (const chunk of inflated as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > most) break;
    }
  } catch {
    size = Math.min(size, most - 1);
  }
  await packed;
  return size;
}

/** A part of a file in pieces. A read stream would close the file. */
export async function* piecesOf(file: FileHandle, start: number, length: number): AsyncGenerator<Buffer> {
  for (let at = start; at < start + length; at += PIECE) {
    const buffer = Buffer.allocUnsafe(Math.min(PIECE, start + length - at));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, at);
    yield buffer.subarray(0, bytesRead);
  }
}
