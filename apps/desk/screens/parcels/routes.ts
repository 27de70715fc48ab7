import { loadParcels } from './loadParcels.ts';
import { Parcels } from './Parcels.tsx';

/** The page of Parcels, which is loaded when it is opened. */
export const routes = { parcels: { loader: loadParcels, Component: Parcels } };
