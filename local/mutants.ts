/** `npm run test:mutants`. */
import '../tools/mutants/run.ts';
