const paths = {
  alert: 'M12 8v5m0 3.200v.1M12 3 2.5 20h19z',
  phone: 'M6 3.5h3l1.5 4-2 1.5a12 12 0 0 0 6 6l1.5-2 4 1.5v3c0 1-1 2-2 2C10.5 19.5 4.5 13 4 5.5c0-1 1-2 2-2z',
  tick: 'm5 12.5 4.5 4.5L19 7.5',
  arrowLeft: 'M19 12H5m6-6-6 6 6 6',
  chevron: 'm6 9 6 6 6-6',
  upload: 'M12 16V5m-5 4.5L12 4.5l5 5M5 19.5h14',
  file: 'M14 3H6.5v18h11V6.5zm0 0v3.5h3.5',
  card: 'M3 6h18v12.5H3zm0 4.5h18M6.5 15h3',
  close: 'M6 6l12 12M18 6 6 18',
  mobile: 'M7.5 2.5h9v19h-9zM11 18.5h2',
  lock: 'M7 11V8a5 5 0 0 1 10 0v3M5.5 11h13v9.5h-13z',
  gift: 'M4 12h16v8H4zM3 8h18v4H3zM12 8v12M8 4l4 4 4-4',
  leaf: 'M5 19c0-9 5-13.5 14.5-14C20 14 15.5 19 8 19m-3 0c2-5 5-7.5 9-9.5',
  copy: 'M9 9h11v11H9zM15 9V4H4v11h5',
  shield: 'M12 3 5 5.5V11c0 5 3 8 7 10 4-2 7-5 7-10V5.5zm-3 8.5 2.200 2.200L15.5 9.5',
} as const;

/** A small line icon that is only decorative, since the text next to it says the same. `size` is in pixels. */
export function Icon({
  name,
  className,
  size = 20,
}: {
  name: keyof typeof paths;
  className?: string | undefined;
  size?: number;
}) {
  return (
    <svg
      className={className}
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth="2"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={paths[name]} />
    </svg>
  );
}
