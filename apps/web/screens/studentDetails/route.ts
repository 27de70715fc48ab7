export { action, shouldRevalidate } from './action.ts';
export { loader } from './loader.ts';
export { Component } from './view.tsx';
