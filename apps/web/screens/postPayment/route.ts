import type { LoaderFunctionArgs } from 'react-router';
import { loadCleaner } from '../../components/Purified.tsx';
import { prefetch } from '../../lib/prefetch.ts';
import { lazyScreens } from '../lazyScreens.tsx';
import { awaitPayment } from './awaitPayment.ts';
import { bankIsSlow } from './Placeholder.tsx';

export { Component } from './view.tsx';

export function loader({ request }: LoaderFunctionArgs) {
  prefetch(lazyScreens.upgrade.load, loadCleaner);
  return awaitPayment(request, bankIsSlow.set);
}
