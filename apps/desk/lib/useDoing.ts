import { useSearchParams } from 'react-router';

/** Which action is open, by the address: `?do=refund&join=2`. So a link can open it, and Back closes it. */
export function useDoing() {
  const [query, setQuery] = useSearchParams();
  return {
    /** The action; null if none is open. */
    doing: query.get('do'),
    /** What the address says of it. */
    about: query,
    start: (action: string, about: Record<string, string> = {}) =>
      setQuery({ do: action, ...about }, { preventScrollReset: true }),
    stop: () => setQuery({}, { replace: true, preventScrollReset: true }),
  };
}
