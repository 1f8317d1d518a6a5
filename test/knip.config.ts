import type { KnipConfig } from 'knip';
import { functionBuilds } from '../lib/infra/bundle.ts';

/** The files that esbuild starts from, and those that replace packages. */
const bundled = [
  ...functionBuilds('').flatMap(({ entryPoints = {} }) =>
    Object.values(entryPoints).map((entry: string | { in: string }) =>
      typeof entry === 'string' ? entry : entry.in,
    ),
  ),
  'functions/aws/sdk-parts.ts',
];

/** Files that no import reaches from here are unused. */
export default {
  workspaces: {
    '.': {
      entry: [
        'bin/*.ts',
        // Read by name.
        'lib/stages/*.ts',
        ...bundled,
        // Uploaded or served as they are.
        'lib/infra/site/viewer-*.js',
        'lib/openapi/page/page.js',
        // Programs, and files that tests and benchmarks start as a process or preload.
        'test/{clients,python}/run.ts',
        'packages/sdk-python/{bin/generate,test/unit/*.test}.ts',
        'test/**/*.deep.test.ts',
        'test/**/*-process.ts',
        'test/support/leftovers/{held,vitest.config}.ts',
        'test/**/{preload,probes,recorder,post-once,run-with-fake-cloud}.ts',
      ],
      project: ['{bin,lib,functions}/**/*.{ts,js}', 'test/**/*.ts'],
      // Tests render pages of the dashboard with its own packages.
      ignoreDependencies: ['aws-cdk', 'react', 'react-dom', 'wouter'],
      ignoreBinaries: ['openssl'],
    },
    // The generator of its types is started from lib/openapi/types.ts.
    dashboard: { project: ['src/**/*.{ts,tsx}'], ignoreDependencies: ['openapi-typescript'] },
    'packages/aws-local': {
      entry: ['bin/*.ts', 'test/example/app.ts', 'test/example/functions/*.mjs'],
      project: ['{bin,src,test}/**/*.{ts,mjs}'],
    },
    'packages/cli': {
      // Loads the program by a computed name.
      entry: ['bin/*.{js,ts}', 'src/{main,node-20}.ts'],
      project: ['{bin,src}/**/*.{js,ts}'],
    },
  },
} satisfies KnipConfig;
