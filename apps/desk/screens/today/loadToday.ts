import type { LoaderFunctionArgs } from 'react-router';
import { call } from '../../lib/call.ts';

export function loadToday({ request }: LoaderFunctionArgs) {
  return call('getToday', { signal: request.signal });
}
