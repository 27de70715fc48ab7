import { useNavigate } from 'react-router';
import { forgetSession } from '../lib/session.ts';
import { Button } from './Button.tsx';

/** Discards the stored session id and what was typed for it, and goes home (specification, section 4). */
export function StartOver() {
  const navigate = useNavigate();
  return (
    <Button
      look="quiet"
      onClick={() => {
        forgetSession();
        void navigate('/');
      }}
    >
      Start Over
    </Button>
  );
}
