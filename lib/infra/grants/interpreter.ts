import type { ESTree } from 'vite';
import { declarationsOf, nameOf, namesIn, parseFile, resolveImport } from './syntax.ts';
import {
  alternativesOf,
  type Closure,
  ENVIRONMENT,
  either,
  elementOf,
  type FunctionNode,
  hasPart,
  keyOf,
  listOf,
  NOTHING,
  partOf,
  Scope,
  shapeOf,
  UNKNOWN,
  type Value,
  writtenAs,
} from './values.ts';

type Expression = ESTree.Expression | ESTree.Super | ESTree.PrivateIdentifier;

interface Module {
  scope: Scope;
  /** Imported names, resolved on use, so that modules may import each other. */
  imports: Map<string, () => Value>;
  exports: Map<string, () => Value>;
}

/** Calls of one function on the stack after which its arguments count as unknown, which ends recursion. */
const MAX_DEPTH = 3;

/** Reads the environment. Every resource is traced back to its result. */
const READS_ENVIRONMENT = { file: /functions\/aws\/config\.ts$/, name: 'readEnvironment' };

/** Called when code calls a package's class or function, with its last argument. */
export type OnUse = (from: string, name: string, argument: Value) => void;

/**
 * Evaluates a module without running it: takes every branch, evaluates functions with their callers' possible
 * arguments, and treats functions passed to a package as called. The result has everything that the code may
 * do and nothing unreachable.
 */
export class Interpreter {
  readonly #onUse: OnUse;
  readonly #parse: (file: string) => ESTree.Program;
  readonly #modules = new Map<string, Module>();
  readonly #results = new Map<string, Value>();
  readonly #depth = new Map<FunctionNode, number>();
  readonly #escaped = new Set<string>();

  /** @param parse parses a file; callers that analyze many modules cache it */
  constructor(onUse: OnUse, parse: (file: string) => ESTree.Program = parseFile) {
    this.#onUse = onUse;
    this.#parse = parse;
  }

  /** @param file absolute path of a TypeScript module, whose exports are assumed to be called */
  run(file: string): void {
    for (const exported of this.#load(file).exports.values()) this.#escape(exported());
  }

  #load(file: string): Module {
    const cached = this.#modules.get(file);
    if (cached !== undefined) return cached;
    const program = this.#parse(file);
    const module: Module = { scope: new Scope(file), imports: new Map(), exports: new Map() };
    this.#modules.set(file, module);
    for (const statement of program.body) this.#link(statement, module);
    this.#runBlock(
      program.body.flatMap((statement) => declarationsOf(statement)),
      module.scope,
      [],
    );
    return module;
  }

  /** Registers a statement's imports and exports. */
  #link(statement: ESTree.Statement | ESTree.Directive, module: Module): void {
    const from = (source: ESTree.StringLiteral, name: string) => () =>
      this.#exportOf(module.scope.file, source.value, name);
    if (statement.type === 'ImportDeclaration') {
      if (statement.importKind === 'type') return;
      for (const specifier of statement.specifiers) {
        const name =
          specifier.type === 'ImportSpecifier'
            ? nameOf(specifier.imported)
            : specifier.type === 'ImportDefaultSpecifier'
              ? 'default'
              : '*';
        module.imports.set(specifier.local.name, from(statement.source, name));
      }
      if (statement.source.value.startsWith('.'))
        this.#load(resolveImport(module.scope.file, statement.source.value));
    } else if (statement.type === 'ExportAllDeclaration') {
      if (statement.exportKind === 'type') return;
      if (statement.exported !== null)
        module.exports.set(nameOf(statement.exported), from(statement.source, '*'));
      else if (statement.source.value.startsWith('.'))
        for (const [name, value] of this.#load(resolveImport(module.scope.file, statement.source.value))
          .exports)
          module.exports.set(name, value);
    } else if (statement.type === 'ExportNamedDeclaration') {
      if (statement.exportKind === 'type') return;
      for (const { local, exported } of statement.specifiers)
        module.exports.set(
          nameOf(exported),
          statement.source === null
            ? () => this.#lookUp(nameOf(local), module.scope)
            : from(statement.source, nameOf(local)),
        );
      for (const name of statement.declaration === null ? [] : namesIn(statement.declaration))
        module.exports.set(name, () => this.#lookUp(name, module.scope));
    } else if (statement.type === 'ExportDefaultDeclaration') {
      module.exports.set('default', () =>
        this.#evaluate(statement.declaration as ESTree.Expression, module.scope),
      );
    }
  }

  #exportOf(importer: string, source: string, name: string): Value {
    if (!source.startsWith('.')) return { kind: 'external', from: source, name };
    const { exports } = this.#load(resolveImport(importer, source));
    if (name === '*') return shapeOf([...exports].map(([key, value]) => [key, value()]));
    return exports.get(name)?.() ?? UNKNOWN;
  }

  #lookUp(name: string, scope: Scope): Value {
    return scope.find(name) ?? this.#modules.get(scope.file)?.imports.get(name)?.() ?? UNKNOWN;
  }

  /** @param returned collects the enclosing function's return values */
  #runBlock(statements: readonly ESTree.Node[], scope: Scope, returned: Value[]): void {
    for (const statement of statements)
      if (statement.type === 'FunctionDeclaration' && statement.id !== null)
        scope.names.set(statement.id.name, { kind: 'closure', node: statement, scope });
    for (const statement of statements) this.#runStatement(statement, scope, returned);
  }

  #runStatement(node: ESTree.Node | null | undefined, scope: Scope, returned: Value[]): void {
    if (!node) return;
    const inner = (body: ESTree.Node | null | undefined) =>
      this.#runStatement(body, new Scope(scope.file, scope), returned);
    switch (node.type) {
      case 'FunctionDeclaration':
        return;
      case 'ClassDeclaration':
        if (node.id !== null) scope.names.set(node.id.name, this.#evaluateClass(node, scope));
        return;
      case 'VariableDeclaration':
        for (const { id, init } of node.declarations)
          this.#bind(id, init === null ? UNKNOWN : this.#evaluate(init, scope), scope);
        return;
      case 'ExpressionStatement':
        this.#evaluate(node.expression, scope);
        return;
      case 'ReturnStatement':
        if (node.argument !== null) returned.push(this.#evaluate(node.argument, scope));
        return;
      case 'ThrowStatement':
        this.#evaluate(node.argument, scope);
        return;
      case 'BlockStatement':
        this.#runBlock(node.body, new Scope(scope.file, scope), returned);
        return;
      case 'IfStatement':
        this.#evaluate(node.test, scope);
        inner(node.consequent);
        inner(node.alternate);
        return;
      case 'ForStatement': {
        const around = new Scope(scope.file, scope);
        if (node.init?.type === 'VariableDeclaration') this.#runStatement(node.init, around, returned);
        else if (node.init) this.#evaluate(node.init, around);
        if (node.test) this.#evaluate(node.test, around);
        if (node.update) this.#evaluate(node.update, around);
        this.#runStatement(node.body, around, returned);
        return;
      }
      case 'ForOfStatement':
      case 'ForInStatement': {
        const around = new Scope(scope.file, scope);
        const over = this.#evaluate(node.right, scope);
        const element = node.type === 'ForOfStatement' ? elementOf(over) : UNKNOWN;
        if (node.left.type === 'VariableDeclaration')
          for (const { id } of node.left.declarations) this.#bind(id, element, around);
        this.#runStatement(node.body, around, returned);
        return;
      }
      case 'WhileStatement':
      case 'DoWhileStatement':
        this.#evaluate(node.test, scope);
        inner(node.body);
        return;
      case 'TryStatement': {
        inner(node.block);
        if (node.handler !== null) {
          const around = new Scope(scope.file, scope);
          if (node.handler.param) this.#bind(node.handler.param, UNKNOWN, around);
          this.#runStatement(node.handler.body, around, returned);
        }
        inner(node.finalizer);
        return;
      }
      case 'SwitchStatement':
        this.#evaluate(node.discriminant, scope);
        for (const { test, consequent } of node.cases) {
          if (test) this.#evaluate(test, scope);
          this.#runBlock(consequent, new Scope(scope.file, scope), returned);
        }
        return;
      case 'LabeledStatement':
        inner(node.body);
        return;
      case 'BreakStatement':
      case 'ContinueStatement':
      case 'EmptyStatement':
      case 'TSTypeAliasDeclaration':
      case 'TSInterfaceDeclaration':
        return;
      default:
        throw new Error(`${scope.file}: ${node.type} is not known to the analysis`);
    }
  }

  /** Binds the names of a pattern to parts of a value. */
  #bind(pattern: ESTree.Node, value: Value, scope: Scope): void {
    switch (pattern.type) {
      case 'Identifier':
        scope.names.set(pattern.name, value);
        return;
      case 'AssignmentPattern':
        this.#bind(pattern.left, either(value, this.#evaluate(pattern.right, scope)), scope);
        return;
      case 'RestElement':
        this.#bind(pattern.argument, value, scope);
        return;
      case 'ArrayPattern':
        for (const element of pattern.elements)
          if (element !== null)
            this.#bind(element, element.type === 'RestElement' ? value : elementOf(value), scope);
        return;
      case 'ObjectPattern':
        for (const property of pattern.properties) {
          if (property.type === 'RestElement')
            this.#bind(property.argument, this.#restOf(value, pattern, scope), scope);
          else this.#bind(property.value, partOf(value, this.#propertyKey(property, scope)), scope);
        }
        return;
      default:
        // An assignment to a property, which other code may read and call.
        this.#escape(value);
    }
  }

  /** An object without the properties that a pattern names. */
  #restOf(value: Value, pattern: ESTree.ObjectPattern | ESTree.ObjectAssignmentTarget, scope: Scope): Value {
    const taken = new Set(
      pattern.properties.flatMap((property) =>
        property.type === 'RestElement' ? [] : (writtenAs(this.#propertyKey(property, scope)) ?? []),
      ),
    );
    return either(
      ...alternativesOf(value).map((alternative) =>
        alternative.kind === 'shape'
          ? shapeOf(
              [...alternative.properties].filter(([name]) => !taken.has(name)),
              alternative.rest,
            )
          : alternative,
      ),
    );
  }

  /** A property's name, or the values of a computed one. */
  #propertyKey({ key, computed }: { key: ESTree.PropertyKey; computed: boolean }, scope: Scope): Value {
    if (computed) return this.#evaluate(key as ESTree.Expression, scope);
    if (key.type === 'Identifier' || key.type === 'PrivateIdentifier')
      return { kind: 'text', text: key.name };
    return key.type === 'Literal' ? { kind: 'text', text: String(key.value) } : UNKNOWN;
  }

  #evaluateAll(nodes: readonly (ESTree.Expression | ESTree.SpreadElement)[], scope: Scope): Value[] {
    return nodes.map((node) =>
      node.type === 'SpreadElement'
        ? elementOf(this.#evaluate(node.argument, scope))
        : this.#evaluate(node, scope),
    );
  }

  #evaluate(node: Expression, scope: Scope): Value {
    switch (node.type) {
      case 'Identifier':
        return node.name === 'undefined' ? NOTHING : this.#lookUp(node.name, scope);
      case 'Literal':
        return typeof node.value === 'string' ? { kind: 'text', text: node.value } : UNKNOWN;
      case 'ArrowFunctionExpression':
      case 'FunctionExpression':
        return { kind: 'closure', node, scope };
      case 'ClassExpression':
        return this.#evaluateClass(node, scope);
      case 'ObjectExpression':
        return this.#evaluateObject(node, scope);
      case 'ArrayExpression':
        return listOf(
          either(
            ...this.#evaluateAll(
              node.elements.filter((element) => element !== null),
              scope,
            ),
          ),
        );
      case 'CallExpression':
        return this.#evaluateCall(node, scope);
      case 'NewExpression':
        return this.#evaluateNew(node, scope);
      case 'MemberExpression':
        return partOf(
          this.#evaluate(node.object, scope),
          node.computed
            ? this.#evaluate(node.property, scope)
            : { kind: 'text', text: nameOf(node.property as ESTree.IdentifierName) },
        );
      case 'ConditionalExpression':
        this.#evaluate(node.test, scope);
        return either(this.#evaluate(node.consequent, scope), this.#evaluate(node.alternate, scope));
      case 'LogicalExpression': {
        const left = this.#evaluate(node.left, scope);
        const right = this.#evaluate(node.right, scope);
        // A falsy value, like undefined, names no resource and cannot be called.
        return node.operator === '&&' ? right : either(left, right);
      }
      case 'AssignmentExpression':
        return this.#assign(node.left, this.#evaluate(node.right, scope), scope);
      case 'SequenceExpression':
        return node.expressions.map((one) => this.#evaluate(one, scope)).at(-1) ?? UNKNOWN;
      case 'AwaitExpression':
      case 'UnaryExpression':
      case 'UpdateExpression': {
        const value = this.#evaluate(node.argument, scope);
        // A promise counts as its resolved value.
        return node.type === 'AwaitExpression' ? value : UNKNOWN;
      }
      case 'YieldExpression': {
        const value = node.argument === null ? UNKNOWN : this.#evaluate(node.argument, scope);
        scope.assign(YIELDED, node.delegate ? elementOf(value) : value);
        return UNKNOWN;
      }
      case 'BinaryExpression':
        this.#evaluate(node.left, scope);
        this.#evaluate(node.right, scope);
        return UNKNOWN;
      case 'TemplateLiteral':
        this.#evaluateAll(node.expressions, scope);
        return UNKNOWN;
      case 'TaggedTemplateExpression':
        return this.#call(this.#evaluate(node.tag, scope), [
          UNKNOWN,
          ...this.#evaluateAll(node.quasi.expressions, scope),
        ]);
      case 'ChainExpression':
      case 'ParenthesizedExpression':
      case 'TSAsExpression':
      case 'TSSatisfiesExpression':
      case 'TSNonNullExpression':
      case 'TSTypeAssertion':
        return this.#evaluate(node.expression, scope);
      case 'ImportExpression': {
        const source = this.#evaluate(node.source, scope);
        return source.kind === 'text' ? this.#exportOf(scope.file, source.text, '*') : UNKNOWN;
      }
      case 'ThisExpression':
      case 'Super':
      case 'MetaProperty':
      case 'PrivateIdentifier':
        return UNKNOWN;
      default:
        throw new Error(`${scope.file}: ${node.type} is not known to the analysis`);
    }
  }

  #assign(target: ESTree.Node, value: Value, scope: Scope): Value {
    if (target.type === 'Identifier') scope.assign(target.name, value);
    // An earlier read of the variable may have seen this value.
    this.#escape(value);
    return value;
  }

  #evaluateObject({ properties }: ESTree.ObjectExpression, scope: Scope): Value {
    const shape = shapeOf([]);
    const join = (name: string, value: Value) =>
      shape.properties.set(name, either(shape.properties.get(name) ?? NOTHING, value));
    const joinRest = (value: Value) => {
      shape.rest = shape.rest === undefined ? value : either(shape.rest, value);
    };
    for (const property of properties) {
      if (property.type === 'SpreadElement') {
        const spread = alternativesOf(this.#evaluate(property.argument, scope));
        for (const part of spread) {
          if (part.kind === 'environment' || part.kind === 'unknown') joinRest(part);
          if (part.kind !== 'shape') continue;
          for (const [name, value] of part.properties) {
            if (spread.length === 1) shape.properties.set(name, value);
            else join(name, value);
          }
          if (part.rest !== undefined) joinRest(part.rest);
        }
        continue;
      }
      const value = this.#evaluate(property.value as ESTree.Expression, scope);
      const key = this.#propertyKey(property, scope);
      for (const name of alternativesOf(key)) {
        const written = writtenAs(name);
        if (written === undefined) joinRest(value);
        else if (key === name) shape.properties.set(written, value);
        else join(written, value);
      }
    }
    return shape;
  }

  /** A class counts as an object of its methods, which an instance may call. */
  #evaluateClass({ body, superClass }: ESTree.Class, scope: Scope): Value {
    if (superClass !== null) this.#evaluate(superClass, scope);
    const methods = shapeOf([], UNKNOWN);
    for (const member of body.body) {
      if (member.type === 'StaticBlock') this.#runBlock(member.body, new Scope(scope.file, scope), []);
      if (member.type !== 'MethodDefinition' && member.type !== 'PropertyDefinition') continue;
      if (!member.value) continue;
      const name = writtenAs(this.#propertyKey(member, scope));
      const value = this.#evaluate(member.value as ESTree.Expression, scope);
      if (name !== undefined) methods.properties.set(name, value);
    }
    return methods;
  }

  #evaluateNew({ callee, arguments: nodes }: ESTree.NewExpression, scope: Scope): Value {
    const constructed = this.#evaluate(callee, scope);
    const values = this.#evaluateAll(nodes, scope);
    for (const created of alternativesOf(constructed))
      if (created.kind === 'external') this.#onUse(created.from, created.name, values.at(-1) ?? UNKNOWN);
    this.#escape(constructed);
    for (const value of values) this.#escape(value);
    if (callee.type === 'Identifier' && callee.name === 'Set') return listOf(elementOf(values[0] ?? UNKNOWN));
    return constructed.kind === 'shape' ? constructed : UNKNOWN;
  }

  #evaluateCall({ callee, arguments: nodes }: ESTree.CallExpression, scope: Scope): Value {
    if (callee.type !== 'MemberExpression')
      return this.#call(this.#evaluate(callee, scope), this.#evaluateAll(nodes, scope));
    const object = this.#evaluate(callee.object, scope);
    const key: Value = callee.computed
      ? this.#evaluate(callee.property, scope)
      : { kind: 'text', text: nameOf(callee.property as ESTree.IdentifierName) };
    const values = this.#evaluateAll(nodes, scope);
    const method = key.kind === 'text' ? key.text : '';
    if (callee.object.type === 'Identifier') {
      const { name } = callee.object;
      const result = scope.find(name) === undefined ? this.#callGlobal(name, method, values) : undefined;
      if (result !== undefined) return result;
      if (GROWS.has(method) && object.kind === 'list')
        scope.assign(name, listOf(either(object.element, ...values)));
    }
    return either(...alternativesOf(object).map((one) => this.#callMethod(one, key, method, values)));
  }

  /** Built-in functions that return their argument. */
  #callGlobal(object: string, method: string, [first = UNKNOWN, second]: Value[]): Value | undefined {
    switch (`${object}.${method}`) {
      case 'Promise.all':
      case 'Array.of':
        return first;
      case 'Promise.race':
      case 'Promise.any':
        return elementOf(first);
      case 'Promise.resolve':
      case 'structuredClone.call':
        return first;
      case 'Promise.allSettled':
        return listOf(shapeOf([['value', elementOf(first)]], UNKNOWN));
      case 'Array.from':
        return second === undefined ? first : listOf(this.#call(second, [elementOf(first), UNKNOWN]));
      case 'Object.values':
        return listOf(partOf(first, UNKNOWN));
      case 'Object.entries':
        return listOf(listOf(partOf(first, UNKNOWN)));
      case 'Object.fromEntries': {
        // A list does not tell its keys from its values: what names a resource is a key.
        const parts = elementOf(elementOf(first));
        const names = alternativesOf(parts).flatMap((part) => (part.kind === 'variable' ? [part] : []));
        if (names.length === 0) return shapeOf([], parts);
        return shapeOf(names.map((name) => [writtenAs(name) ?? '', parts]));
      }
      default:
        return undefined;
    }
  }

  #callMethod(object: Value, key: Value, method: string, values: Value[]): Value {
    const [first = UNKNOWN] = values;
    if (method === 'then') return either(...values.map((done) => this.#call(done, [object])));
    if (method === 'catch') return either(object, this.#call(first, [UNKNOWN]));
    if (method === 'finally') {
      this.#call(first, []);
      return object;
    }
    // map returns an array of any content.
    if (object.kind === 'list' || (object.kind === 'unknown' && MAPS.has(method))) {
      const element = object.kind === 'list' ? object.element : UNKNOWN;
      if (MAPS.has(method)) {
        const result = this.#call(first, [element, UNKNOWN, object]);
        return listOf(method === 'flatMap' ? either(...alternativesOf(result).map(flatten)) : result);
      }
      if (TAKES_ONE.has(method)) return either(element, this.#callEach(values, element));
      const kept = this.#callEach(values, element);
      if (KEEPS.has(method)) return listOf(either(element, ...(ADDS.has(method) ? values.map(flatten) : [])));
      return kept;
    }
    if (object.kind === 'shape' && writtenAs(key) !== undefined && !hasPart(object, key))
      return this.#call(UNKNOWN, values);
    return this.#call(partOf(object, key), values);
  }

  /** Calls the functions among an array method's arguments, with its elements. */
  #callEach(values: readonly Value[], element: Value): Value {
    for (const value of values)
      if (alternativesOf(value).some(({ kind }) => kind === 'closure'))
        this.#call(value, [element, element, UNKNOWN]);
      else this.#escape(value);
    return UNKNOWN;
  }

  #call(callee: Value, values: readonly Value[]): Value {
    return either(
      ...alternativesOf(callee).map((called) => {
        if (called.kind === 'closure') return this.#callClosure(called, values);
        if (called.kind === 'external') this.#onUse(called.from, called.name, values.at(-1) ?? UNKNOWN);
        for (const value of values) this.#escape(value);
        return UNKNOWN;
      }),
    );
  }

  #callClosure(closure: Closure, given: readonly Value[]): Value {
    const { node, scope } = closure;
    if (node.id?.name === READS_ENVIRONMENT.name && READS_ENVIRONMENT.file.test(scope.file))
      return ENVIRONMENT;
    const depth = this.#depth.get(node) ?? 0;
    const values = depth < MAX_DEPTH ? given : given.map(() => UNKNOWN);
    const key = `${keyOf(closure)}(${values.map(keyOf).join()})`;
    const cached = this.#results.get(key);
    if (cached !== undefined) return cached;
    this.#results.set(key, NOTHING);
    this.#depth.set(node, depth + 1);
    const result = this.#runBody(node, new Scope(scope.file, scope), values);
    this.#depth.set(node, depth);
    this.#results.set(key, result);
    return result;
  }

  #runBody(node: FunctionNode, scope: Scope, values: readonly Value[]): Value {
    scope.names.set(YIELDED, NOTHING);
    for (const [index, param] of node.params.entries()) {
      const pattern = param.type === 'TSParameterProperty' ? param.parameter : param;
      const value =
        pattern.type === 'RestElement'
          ? listOf(either(...values.slice(index)))
          : // What the caller leaves out is its default.
            (values[index] ?? (pattern.type === 'AssignmentPattern' ? NOTHING : UNKNOWN));
      this.#bind(pattern, value, scope);
    }
    if (!node.body) return UNKNOWN;
    if (node.body.type !== 'BlockStatement') return this.#evaluate(node.body as ESTree.Expression, scope);
    const returned: Value[] = [];
    this.#runBlock(node.body.body, scope, returned);
    if (node.generator) return listOf(scope.names.get(YIELDED) ?? UNKNOWN);
    return returned.length === 0 ? UNKNOWN : either(...returned);
  }

  /** The value reaches code that is not analyzed, which may call its functions with any arguments. */
  #escape(value: Value): void {
    if (value.kind === 'unknown' || value.kind === 'text' || value.kind === 'variable') return;
    const key = keyOf(value);
    if (this.#escaped.has(key)) return;
    this.#escaped.add(key);
    for (const alternative of alternativesOf(value)) {
      if (alternative.kind === 'closure')
        this.#escape(
          this.#callClosure(
            alternative,
            alternative.node.params.map(() => UNKNOWN),
          ),
        );
      else if (alternative.kind === 'list') this.#escape(alternative.element);
      else if (alternative.kind === 'shape') {
        for (const part of alternative.properties.values()) this.#escape(part);
        if (alternative.rest !== undefined) this.#escape(alternative.rest);
      }
    }
  }
}

/** Under this name a generator's scope collects yielded values. No variable has it. */
const YIELDED = 'yield';

/** Array methods by their use of elements. */
const MAPS = new Set(['map', 'flatMap']);
const KEEPS = new Set([
  'filter',
  'slice',
  'sort',
  'toSorted',
  'reverse',
  'toReversed',
  'concat',
  'flat',
  'values',
  'with',
  'toSpliced',
  'splice',
  'keys',
  'entries',
  'union',
]);
const ADDS = new Set(['concat', 'with', 'union']);
const TAKES_ONE = new Set(['find', 'findLast', 'at', 'pop', 'shift', 'reduce', 'reduceRight']);
const GROWS = new Set(['push', 'unshift', 'add']);

const flatten = (value: Value): Value =>
  either(...alternativesOf(value).map((one) => (one.kind === 'list' ? one.element : one)));
