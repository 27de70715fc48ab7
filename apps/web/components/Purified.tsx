import { useEffect, useState } from 'react';

/** Cleaned for a page without inline styles or scripts. The cleaner is downloaded when first needed. */
async function purify(markup: string, profile: 'html' | 'svg'): Promise<string> {
  const { default: cleaner } = await import(/* webpackChunkName: "purify" */ 'dompurify');
  return cleaner.sanitize(markup, {
    USE_PROFILES: { [profile]: true },
    FORBID_TAGS: ['style', 'form', 'input', 'button'],
    FORBID_ATTR: ['style'],
  });
}

/** HTML from the server. Until the cleaner is there, and where it cannot be had, its words without the markup. */
export function PurifiedHtml({ html, className }: { html: string; className?: string }) {
  const clean = usePurified(html, 'html');
  if (clean === null) return <span className={className}>{wordsOf(html)}</span>;
  // biome-ignore lint/security/noDangerouslySetInnerHtml: cleaned by DOMPurify just above
  return <span className={className} dangerouslySetInnerHTML={{ __html: clean }} />;
}

/** A product's icon: SVG text, or the address of a picture, or none (specification, section 3). Decorative. */
export function ProductIcon({ icon, className }: { icon: string; className?: string | undefined }) {
  const isSvg = icon.trimStart().startsWith('<');
  const clean = usePurified(isSvg ? icon : '', 'svg');
  if (!isSvg) {
    return (
      <span className={className} aria-hidden="true">
        {icon !== '' && <img src={icon} alt="" />}
      </span>
    );
  }
  // biome-ignore lint/security/noDangerouslySetInnerHtml: cleaned by DOMPurify just above
  return <span className={className} aria-hidden="true" dangerouslySetInnerHTML={{ __html: clean ?? '' }} />;
}

function usePurified(markup: string, profile: 'html' | 'svg'): string | null {
  const [clean, setClean] = useState<string | null>(null);
  useEffect(() => {
    if (markup === '') return;
    let current = true;
    purify(markup, profile).then(
      (safe) => current && setClean(safe),
      (error) => console.error(error),
    );
    return () => {
      current = false;
    };
  }, [markup, profile]);
  return clean;
}

function wordsOf(html: string): string {
  return new DOMParser().parseFromString(html, 'text/html').body.textContent ?? '';
}
