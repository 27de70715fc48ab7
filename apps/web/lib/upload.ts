import { createUpload } from '#client/upload.ts';
import { UPLOAD_FAILED, uploadCut, uploadTooLarge } from '#documents/document.ts';
import { client } from './api.ts';

export const upload = createUpload(client, {
  failed: UPLOAD_FAILED,
  cut: uploadCut,
  tooLarge: uploadTooLarge,
});
