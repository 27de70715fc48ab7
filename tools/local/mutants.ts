/** The program of `npm run test:mutants`. */
import '../mutants/run.ts';
