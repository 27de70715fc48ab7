import { startTransition, useEffect, useMemo, useState } from 'react';
import { Icon } from '#ui/icons.tsx';

let cleaner: typeof import('dompurify').default | null = null;

/** Downloads the sanitizer ahead of time. The components below otherwise download it when they need it. Never rejects. */
export async function loadCleaner(): Promise<void> {
  try {
    cleaner ??= (await import(/* webpackChunkName: "purify" */ 'dompurify')).default;
  } catch (error) {
    console.error(error);
  }
}

/**
 * Sanitizes markup for a page whose content security policy allows no inline styles or scripts. Returns null if the sanitizer is
 * not loaded.
 */
function purify(markup: string, profile: 'html' | 'svg'): string | null {
  if (!cleaner) return null;
  return cleaner.sanitize(markup, {
    USE_PROFILES: { [profile]: true },
    FORBID_TAGS: ['style', 'form', 'input', 'button'],
    FORBID_ATTR: ['style'],
  });
}

/**
 * Shows HTML from the server, sanitized. Until the sanitizer is loaded, it is shown as plain text. Text without markup needs no
 * sanitizer.
 */
export function PurifiedHtml({ html, className }: { html: string; className?: string }) {
  const isPlain = !/[<&]/.test(html);
  const clean = usePurified(isPlain ? '' : html, 'html');
  if (isPlain) return <span className={className}>{html}</span>;
  if (clean === null) return <span className={className}>{wordsOf(html)}</span>;
  // biome-ignore lint/security/noDangerouslySetInnerHtml: sanitized by DOMPurify just above
  return <span className={className} dangerouslySetInnerHTML={{ __html: clean }} />;
}

/**
 * A product's icon. `icon` is SVG text, the URL of an image, or empty (specification, section 3). Screen readers skip the icon,
 * since it is only decorative. If the image is missing or cannot be loaded, an icon of ours is shown.
 */
export function ProductIcon({ icon, className }: { icon: string; className?: string | undefined }) {
  const isSvg = icon.trimStart().startsWith('<');
  const clean = usePurified(isSvg ? icon : '', 'svg');
  const [failed, setFailed] = useState<string | null>(null);
  if (!isSvg) {
    return (
      <span className={className} aria-hidden="true">
        {icon === '' || icon === failed ? (
          <Icon name="gift" />
        ) : (
          <img src={icon} alt="" decoding="async" onError={() => setFailed(icon)} />
        )}
      </span>
    );
  }
  // biome-ignore lint/security/noDangerouslySetInnerHtml: sanitized by DOMPurify just above
  return <span className={className} aria-hidden="true" dangerouslySetInnerHTML={{ __html: clean ?? '' }} />;
}

function usePurified(markup: string, profile: 'html' | 'svg'): string | null {
  const [loaded, setLoaded] = useState(cleaner !== null);
  useEffect(() => {
    if (loaded || markup === '') return;
    let current = true;
    // Rendering the sanitized content may wait, because the form next to it is more urgent.
    void loadCleaner().then(() => current && startTransition(() => setLoaded(cleaner !== null)));
    return () => {
      current = false;
    };
  }, [loaded, markup]);
  return useMemo(() => (loaded && markup !== '' ? purify(markup, profile) : null), [loaded, markup, profile]);
}

function wordsOf(html: string): string {
  return new DOMParser().parseFromString(html, 'text/html').body.textContent ?? '';
}
