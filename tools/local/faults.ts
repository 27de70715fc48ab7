/** The program of `npm run test:faults`. */
import '../../tests/faults/main.ts';
