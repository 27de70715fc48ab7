export { loader } from './loader.ts';
export { Component } from './view.tsx';
