import { Link } from 'react-router';
import { PageHeading } from '#ui/PageHeading.tsx';
import { Stack } from '#ui/Text.tsx';

const words = {
  page: {
    title: 'Nothing is here',
    text: 'There is no page at this address.',
    back: { to: '/', name: 'Go to Today' },
  },
  person: {
    title: 'Nobody is here',
    text: 'There is no person at this address. They may have been erased.',
    back: { to: '/people', name: 'Go to People' },
  },
};

/** Shown in place of a page or a person that does not exist, with a link back. */
export function Gone({ what }: { what: keyof typeof words }) {
  const { title, text, back } = words[what];
  return (
    <>
      <PageHeading title={title} takesFocus />
      <Stack>
        <p>{text}</p>
        <Link to={back.to}>{back.name}</Link>
      </Stack>
    </>
  );
}
