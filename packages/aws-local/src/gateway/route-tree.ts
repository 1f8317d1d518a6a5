/** Target of a path, with decoded parameters. */
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
 * Resources of a REST API. Per segment, a literal wins over `{name}`, which wins over `{name+}`, without
 * backtracking. The method itself wins over `ANY`. A trailing slash makes another path, as in API Gateway.
 */
export class RouteTree<Target> {
  readonly #root: Node<Target> = emptyNode();

  /** @param path a resource path such as `/v1/things/{id}` */
  add(path: string, method: string, target: Target): void {
    let node = this.#root;
    for (const part of splitPath(path)) node = descend(node, part);
    node.methods.set(method, target);
  }

  /** @param segments decoded segments of the path; empty for `/` */
  match(method: string, segments: readonly string[]): RouteMatch<Target> | undefined {
    const found = find(this.#root, segments, []);
    if (!found) return undefined;
    const target =
      found.node.methods.get(method) ?? (ANY_METHODS.has(method) ? found.node.methods.get('ANY') : undefined);
    return target === undefined ? undefined : { target, parameters: Object.fromEntries(found.parameters) };
  }
}

const ANY_METHODS = new Set(['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT']);

type Parameter = [name: string, value: string];

interface Found<Target> {
  node: Node<Target>;
  parameters: Parameter[];
}

function find<Target>(
  node: Node<Target>,
  segments: readonly string[],
  parameters: Parameter[],
): Found<Target> | undefined {
  const [segment, ...rest] = segments;
  if (segment === undefined) return node.methods.size > 0 ? { node, parameters } : undefined;
  const { parameter, greedy } = node;
  const fixed = node.fixed.get(segment);
  if (fixed) return find(fixed, rest, parameters);
  if (parameter && segment !== '')
    return find(parameter.node, rest, [...parameters, [parameter.name, segment]]);
  return greedy && { node: greedy.node, parameters: [...parameters, [greedy.name, segments.join('/')]] };
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
