/**
 * Target of a path, with its parameters as they were sent: a REST API does not decode them
 * (https://github.com/serverless/serverless/issues/5037).
 */
export interface RouteMatch<Target> {
  target: Target;
  parameters: Record<string, string>;
}

interface Node<Target> {
  fixed: Map<string, Node<Target>>;
  /** `{name}`: any one segment. */
  parameter?: { name: string; node: Node<Target> };
  /** `{name+}`: one or more remaining segments. */
  greedy?: { name: string; node: Node<Target> };
  methods: Map<string, Target>;
}

/**
 * Resources of a REST API. The most specific resource that has the method answers: per segment, a literal
 * wins over `{name}`, which wins over `{name+}`, and on a resource the method itself wins over `ANY`.
 * https://github.com/ministackorg/ministack/pull/1423, https://github.com/floci-io/floci/pull/3399
 */
export class RouteTree<Target> {
  readonly #root: Node<Target> = emptyNode();

  /** @param path a resource path such as `/v1/things/{id}` */
  add(path: string, method: string, target: Target): void {
    let node = this.#root;
    for (const part of splitPath(path)) node = descend(node, part);
    node.methods.set(method, target);
  }

  /** @param segments encoded segments of the path; empty for `/` */
  match(method: string, segments: readonly string[]): RouteMatch<Target> | undefined {
    return find(this.#root, method, segments, []);
  }
}

const ANY_METHODS = new Set(['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT']);

type Parameter = [name: string, value: string];

function find<Target>(
  node: Node<Target>,
  method: string,
  segments: readonly string[],
  parameters: readonly Parameter[],
): RouteMatch<Target> | undefined {
  const matched = (
    { methods }: Node<Target>,
    matchedParameters = parameters,
  ): RouteMatch<Target> | undefined => {
    const target = methods.get(method) ?? (ANY_METHODS.has(method) ? methods.get('ANY') : undefined);
    return target === undefined ? undefined : { target, parameters: Object.fromEntries(matchedParameters) };
  };
  const [segment, ...rest] = segments;
  if (segment === undefined) return matched(node);
  const { parameter, greedy } = node;
  const fixed = node.fixed.get(decodeURIComponent(segment));
  return (
    (fixed && find(fixed, method, rest, parameters)) ??
    (parameter && segment !== ''
      ? find(parameter.node, method, rest, [...parameters, [parameter.name, segment]])
      : undefined) ??
    (greedy && matched(greedy.node, [...parameters, [greedy.name, segments.join('/')]]))
  );
}

function descend<Target>(node: Node<Target>, part: string): Node<Target> {
  const [, name, plus] = /^\{([^}+]+)(\+?)\}$/.exec(part) ?? [];
  if (name === undefined) {
    const next = node.fixed.get(part) ?? emptyNode<Target>();
    node.fixed.set(part, next);
    return next;
  }
  if (plus) {
    node.greedy ??= { name, node: emptyNode() };
    return node.greedy.node;
  }
  node.parameter ??= { name, node: emptyNode() };
  return node.parameter.node;
}

function emptyNode<Target>(): Node<Target> {
  return { fixed: new Map(), methods: new Map() };
}

function splitPath(path: string): string[] {
  return path.split('/').filter((part) => part !== '');
}
