import { useNavigate } from 'react-router';
import { forgetSession } from '../lib/session.ts';
import { Button } from './Button.tsx';

/** Removes the stored session id and its drafts, and goes to the home page (specification, section 4). */
export function StartOver() {
  const navigate = useNavigate();
  return (
    <Button
      variant="quiet"
      onClick={() => {
        forgetSession();
        void navigate('/');
      }}
    >
      Start Over
    </Button>
  );
}
