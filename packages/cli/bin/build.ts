import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';

const PACKAGE = join(import.meta.dirname, '..');
const DIST = join(PACKAGE, 'dist');

/** Bundles the command line with everything that it uses, so that the package has no dependencies. */
await rm(DIST, { recursive: true, force: true });
await build({
  entryPoints: { conversations: join(PACKAGE, 'src/main.ts') },
  outdir: DIST,
  bundle: true,
  splitting: true,
  minifySyntax: true,
  minifyWhitespace: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  inject: [join(PACKAGE, 'src/node-20.ts')],
  // Packages in CommonJS call `require` for modules of Node.js.
  banner: {
    js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
  },
});
