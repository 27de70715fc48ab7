import { useNavigate } from 'react-router';
import { forgetSession, startOver } from '../lib/session.ts';
import { Button } from './Button.tsx';

/**
 * Removes the stored session id and its drafts, and goes to the home page (specification, section 4), which offers to undo it unless
 * the join `isLost`.
 */
export function StartOver({ isLost = false }: { isLost?: boolean }) {
  const navigate = useNavigate();
  return (
    <Button
      variant="quiet"
      onClick={() => {
        if (isLost) forgetSession();
        // The router's location would still have what the payment return took out of the address.
        else startOver(window.location.pathname + window.location.search);
        void navigate('/');
      }}
    >
      Start Over
    </Button>
  );
}
