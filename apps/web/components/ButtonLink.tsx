import type { ComponentProps } from 'react';
import { Link } from 'react-router';
import { buttonClass } from '#ui/Button.tsx';

/** A link to another screen that looks like a button. */
export function ButtonLink({
  variant,
  full,
  ...rest
}: ComponentProps<typeof Link> & Pick<NonNullable<Parameters<typeof buttonClass>[0]>, 'variant' | 'full'>) {
  return <Link className={buttonClass({ ...(variant && { variant }), full })} {...rest} />;
}
