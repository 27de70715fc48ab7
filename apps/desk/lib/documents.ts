import { ApiError } from '#client/failures.ts';
import { takeFile } from './call.ts';

/** Makes the browser save a document. Throws the same errors as `call`. */
export async function saveDocument({ id, name }: { id: string; name: string }): Promise<void> {
  const bytes = await takeFile('openDocument', { params: { id } });
  const link = document.createElement('a');
  // This type keeps browsers from showing the document.
  link.href = URL.createObjectURL(new Blob([bytes], { type: 'application/octet-stream' }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** Whether a document cannot be shown because its file no longer exists or cannot be read. The error's message says which. */
export const isUnreadable = (error: unknown): error is ApiError =>
  error instanceof ApiError && (error.status === 404 || error.status === 409);
