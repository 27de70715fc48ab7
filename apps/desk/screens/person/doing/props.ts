import type { PersonData } from '../loadPerson.ts';

/** The props of every dialog about a person. `about` has the URL's parameters for the action. */
export interface DoingProps {
  person: PersonData;
  about: URLSearchParams;
  onClose: () => void;
}
