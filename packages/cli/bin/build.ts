import { join } from 'node:path';
import { build } from 'esbuild';

const PACKAGE = join(import.meta.dirname, '..');

/** Bundles the command line with everything that it uses, so that the package has no dependencies. */
await build({
  entryPoints: { conversations: join(PACKAGE, 'src/main.ts') },
  outdir: join(PACKAGE, 'dist'),
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  // Packages in CommonJS call `require` for modules of Node.js.
  banner: {
    js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
  },
});
