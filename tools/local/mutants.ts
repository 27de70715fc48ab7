/** `npm run test:mutants`. */
import '../mutants/run.ts';
