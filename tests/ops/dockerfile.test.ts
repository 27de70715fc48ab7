import assert from 'node:assert/strict';
import { test } from 'node:test';
import { imageOf, parseDockerfile } from './dockerfile.ts';

test('a Dockerfile is read by instructions, options and lines that go on; the image is its last stage', () => {
  const instructions = parseDockerfile(`# Comment
FROM node:24 AS build
ENV A=build
RUN one && \\
    # why
    two

FROM node:24
ENV A=b C="d e"
COPY --from=build /x /y x/
USER node
WORKDIR /w
VOLUME ["/data"]
EXPOSE 80
HEALTHCHECK --interval=10s CMD ["check", "it"]
CMD ["run"]
`);
  assert.deepEqual(instructions[2], { name: 'RUN', options: {}, rest: 'one && two' });
  assert.deepEqual(instructions[5], { name: 'COPY', options: { from: 'build' }, rest: '/x /y x/' });
  assert.deepEqual(imageOf(instructions), {
    env: { A: 'b', C: 'd e' },
    workdir: '/w',
    user: 'node',
    volumes: ['/data'],
    port: 80,
    healthcheck: ['check', 'it'],
    cmd: ['run'],
  });
});

test('an instruction that is not known is an error, not a step that is missing', () => {
  assert.throws(() => parseDockerfile('FROM node:24\nADD a b\n'), /ADD a b/);
  assert.throws(() => parseDockerfile('FROM node:24\nrun x\n'), /run x/);
});
