import type { PersonData } from '../loadPerson.ts';

/** What every dialog about a person gets. `about`: what the address says of the action. */
export interface DoingProps {
  person: PersonData;
  about: URLSearchParams;
  onClose: () => void;
}
