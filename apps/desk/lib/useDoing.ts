import { useSearchParams } from 'react-router';

/** The action that is open, according to the URL: `?do=refund&join=2`. So a link can open an action, and Back closes it. */
export function useDoing() {
  const [query, setQuery] = useSearchParams();
  return {
    /** The action; null if none is open. */
    doing: query.get('do'),
    /** The URL's parameters, which include those of the action. */
    about: query,
    start: (action: string, about: Record<string, string> = {}) =>
      setQuery({ do: action, ...about }, { preventScrollReset: true }),
    stop: () => setQuery({}, { replace: true, preventScrollReset: true }),
  };
}
