import { loadStaff } from './loadStaff.ts';
import { Staff } from './Staff.tsx';

/** The page of Staff, which is loaded when it is opened. */
export const routes = { staff: { loader: loadStaff, Component: Staff } };
