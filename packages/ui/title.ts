import { useEffect } from 'react';

let title = '';
/** How many form errors are shown. */
let errors = 0;

function show(): void {
  document.title = errors > 0 ? `Error: ${title}` : title;
}

/** Sets the document's title, which begins with "Error: " while the screen shows a form error. */
export function useTitle(screen: string): void {
  useEffect(() => {
    title = screen;
    show();
  }, [screen]);
}

/** Makes the document's title begin with "Error: " while `isShown`. */
export function useErrorInTitle(isShown: boolean): void {
  useEffect(() => {
    if (!isShown) return;
    errors++;
    show();
    return () => {
      errors--;
      show();
    };
  }, [isShown]);
}
