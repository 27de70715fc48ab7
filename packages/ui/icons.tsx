const paths = {
  alert: 'M12 8v5m0 3.200v.1M12 3 2.500 20h19z',
  phone:
    'M6 3.500h3l1.500 4-2 1.500a12 12 0 0 0 6 6l1.500-2 4 1.500v3c0 1-1 2-2 2C10.500 19.500 4.500 13 4 5.500c0-1 1-2 2-2z',
  tick: 'm5 12.500 4.500 4.500L19 7.500',
  arrowLeft: 'M19 12H5m6-6-6 6 6 6',
  chevron: 'm6 9 6 6 6-6',
  upload: 'M12 16V5m-5 4.500L12 4.500l5 5M5 19.500h14',
  file: 'M14 3H6.500v18h11V6.500zm0 0v3.500h3.500',
  card: 'M3 6h18v12.500H3zm0 4.500h18M6.500 15h3',
  close: 'M6 6l12 12M18 6 6 18',
  mobile: 'M7.500 2.500h9v19h-9zM11 18.500h2',
  lock: 'M7 11V8a5 5 0 0 1 10 0v3M5.500 11h13v9.500h-13z',
  gift: 'M4 12h16v8.500H4zM3 7.500h18V12H3zM12 7.500v13M12 7.500C9 7.500 7 6.500 7 5s3.500-2 5 2.500C13.500 3 17 3.500 17 5s-2 2.500-5 2.500',
  leaf: 'M5 19c0-9 5-13.500 14.500-14C20 14 15.500 19 8 19m-3 0c2-5 5-7.500 9-9.500',
  copy: 'M9 9h11v11H9zM15 9V4H4v11h5',
  shield: 'M12 3 5 5.500V11c0 5 3 8 7 10 4-2 7-5 7-10V5.500zm-3 8.500 2.200 2.200L15.500 9.500',
} as const;

/** A small line icon that is only decorative, since the text beside it says the same. `size` is in pixels. */
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
