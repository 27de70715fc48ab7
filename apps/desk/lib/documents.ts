import { ApiError } from '#client/failures.ts';
import { takeFile } from './call.ts';

/** Has the browser save a document. Throws as `call` does. */
export async function saveDocument({ id, name }: { id: string; name: string }): Promise<void> {
  const bytes = await takeFile('openDocument', { params: { id } });
  const link = document.createElement('a');
  // The type keeps browsers from showing it.
  link.href = URL.createObjectURL(new Blob([bytes], { type: 'application/octet-stream' }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** Whether a document cannot be shown because its file is not there any more, or cannot be read. The error says so. */
export const isUnreadable = (error: unknown): error is ApiError =>
  error instanceof ApiError && (error.status === 404 || error.status === 409);
