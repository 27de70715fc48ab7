import type { LoaderFunctionArgs } from 'react-router';
import type { DeskData } from '#contract/deskSchemas.ts';
import { call } from '../../lib/call.ts';

export type ImportFile = DeskData<'getImport'>;

export function loadImport({ params, request }: LoaderFunctionArgs): Promise<ImportFile> {
  return call('getImport', { params: { id: params.id! }, signal: request.signal });
}

const stateWords: Record<ImportFile['state'], string> = {
  arriving: 'The file is arriving',
  making: 'The codes are being made',
  made: 'The codes are made, and open nothing yet',
  checking: 'The file is being checked',
  checked: 'The file waits to be imported',
  importing: 'The file is being imported',
  done: 'The file is imported',
  failed: 'The file could not be read',
};

/** Returns the state of a file in words. */
export function stateOf({
  kind,
  state,
  isEmptied,
}: Pick<ImportFile, 'kind' | 'state' | 'isEmptied'>): string {
  if (state === 'arriving' && isEmptied) return 'The file did not arrive whole';
  return kind === 'mint' && state === 'done' ? 'The codes are made and imported' : stateWords[state];
}

/** Whether the server is working on a file. */
export const isUnderWay = ({ state }: Pick<ImportFile, 'state'>) =>
  state === 'making' || state === 'checking' || state === 'importing';
