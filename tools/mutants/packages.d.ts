// Installed by `npm run test:mutants` alone: the types are checked without them.
declare module '@babel/parser';
declare module '@stryker-mutator/core';
declare module '@stryker-mutator/instrumenter';
declare module 'typed-inject';
