import type { LoaderFunctionArgs } from 'react-router';
import { ApiError } from '#client/failures.ts';
import { call } from '../../../lib/call.ts';

/** Loads the fields of a person that can be corrected, or the sentence that says why none can be. */
export async function loadCorrectable({ params, request }: LoaderFunctionArgs) {
  try {
    return await call('getCorrectable', { params: { id: params.id! }, signal: request.signal });
  } catch (error) {
    if (error instanceof ApiError && error.status === 409) return { refusal: error.message };
    throw error;
  }
}
