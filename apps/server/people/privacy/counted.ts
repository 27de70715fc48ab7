import type { AtHubspot } from './leftAtHubspot.ts';

export const count = (number: number, one: string, many = `${one}s`) =>
  `${number} ${number === 1 ? one : many}`;

export const counted = ({ contacts, files }: AtHubspot) =>
  `${count(contacts.length, 'contact')} and ${count(files.length, 'file')}`;
