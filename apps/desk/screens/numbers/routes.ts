import { loadNumbers } from './loadNumbers.ts';
import { Numbers } from './Numbers.tsx';

/** The page of Numbers, which is loaded when it is opened. */
export const routes = { numbers: { loader: loadNumbers, Component: Numbers } };
