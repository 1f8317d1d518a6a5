import type { Components, OpenApiDocument } from './openapi.ts';

/**
 * Leaves out the components that nothing refers to, directly or through others. Security schemes are referred
 * to by name.
 */
export function withoutUnused(document: OpenApiDocument): OpenApiDocument {
  const { components, ...rest } = document;
  const schemes = new Set(
    Object.values(document.paths).flatMap((item) =>
      Object.values(item).flatMap(({ security }) => security.flatMap((scheme) => Object.keys(scheme))),
    ),
  );
  const used = new Set([...schemes].map((name) => `#/components/securitySchemes/${name}`));
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    for (const [key, value] of Object.entries(node))
      if (key === '$ref' && typeof value === 'string') follow(value);
      else visit(value);
  };
  const follow = (ref: string): void => {
    if (used.has(ref)) return;
    used.add(ref);
    const [kind = '', name = ''] = ref.slice('#/components/'.length).split('/');
    visit(Object(components)[kind]?.[name]);
  };
  visit(rest);

  const kept = <K extends keyof Components>(kind: K) =>
    Object.fromEntries(
      Object.entries(components[kind]).filter(([name]) => used.has(`#/components/${kind}/${name}`)),
    );
  return {
    ...rest,
    components: {
      schemas: kept('schemas'),
      responses: kept('responses'),
      parameters: kept('parameters'),
      headers: kept('headers'),
      securitySchemes: kept('securitySchemes'),
    } as Components,
  };
}
