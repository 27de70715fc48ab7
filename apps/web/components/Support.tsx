import { phoneLink, useSite } from '../lib/site.ts';

/** The society's email address, as a link. */
export function SupportEmail() {
  const { supportEmail } = useSite().society;
  return <a href={`mailto:${supportEmail}`}>{supportEmail}</a>;
}

/** The society's phone number, as a link. */
export function SupportPhone() {
  const { supportPhone } = useSite().society;
  return <a href={phoneLink(supportPhone)}>{supportPhone}</a>;
}
