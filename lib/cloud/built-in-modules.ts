import type { Plugin } from 'esbuild';

const NAMESPACE = 'built-in-module';

/**
 * Has Node's own modules from the process instead of by `import`: for an import Node makes a namespace of all that a module exports, and
 * loads for it what the module itself would load when it is first used (streams of files, Web Crypto …). That is a third of what they cost
 * to load. A function loads fewer of them besides: an `import` stands at the top of a bundle and loads its module also where only code needs
 * it that is loaded later.
 *
 * What is exported inherits from the module, so that the bundler's copy of it has nothing to copy, and nothing is looked at before it is used.
 */
export const builtInModules: Plugin = {
  name: NAMESPACE,
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:/ }, ({ path, kind }) =>
      kind === 'import-statement' ? { path, namespace: NAMESPACE, sideEffects: false } : undefined,
    );
    onLoad({ filter: /.*/, namespace: NAMESPACE }, ({ path }) => ({
      loader: 'js',
      contents: `module.exports = Object.create(process.getBuiltinModule(${JSON.stringify(path)}));`,
    }));
  },
};
