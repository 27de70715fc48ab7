// Only `npm run lab -- mutants` installs these packages. These declarations allow type checks without them.
declare module '@babel/parser';
declare module '@stryker-mutator/core';
declare module '@stryker-mutator/instrumenter';
declare module 'typed-inject';
