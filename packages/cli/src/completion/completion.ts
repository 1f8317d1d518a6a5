import type { CommandUnknownOpts } from '@commander-js/extra-typings';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** Words that can follow a command. */
export interface CompletionNode {
  /** Commands after `conversations`, separated by spaces; empty for the program. */
  path: string;
  commands: readonly { name: string; about: string }[];
  options: readonly { flag: string; about: string; takesValue: boolean }[];
  /** Values of the first argument that are known. */
  values: readonly string[];
}

/** @param valuesOf known values of a command's argument, by the path of the command */
export function completionNodes(
  program: CommandUnknownOpts,
  valuesOf: Readonly<Record<string, readonly string[]>>,
  path: readonly string[] = [],
): CompletionNode[] {
  const node = {
    path: path.join(' '),
    commands: program.commands.map((command) => ({
      name: command.name(),
      about: firstLine(command.description()),
    })),
    options: [
      ...program.options.map(({ long, description, required, optional }) => ({
        flag: long ?? '',
        about: firstLine(description),
        takesValue: required || optional,
      })),
      { flag: '--help', about: 'show the help', takesValue: false },
    ],
    values: valuesOf[path.join(' ')] ?? [],
  };
  return [
    node,
    ...program.commands.flatMap((command) => completionNodes(command, valuesOf, [...path, command.name()])),
  ];
}

/** A script that completes commands, options and known arguments in a shell. */
export function renderCompletion(shell: Shell, nodes: readonly CompletionNode[]): string {
  return RENDERERS[shell](nodes);
}

const RENDERERS: Record<Shell, (nodes: readonly CompletionNode[]) => string> = {
  bash: (nodes) => `# source <(conversations completion bash)
_conversations() {
  local path='' word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) ;; *) ${nextPath(nodes)} ;; esac
  done
  COMPREPLY=()
  case "$path" in
${nodes.map((node) => `    ${quote(node.path)}) COMPREPLY=($(compgen -W ${quote(wordsOf(node).join(' '))} -- "$2")) ;;`).join('\n')}
  esac
}
complete -o default -F _conversations conversations
`,
  zsh: (nodes) => `#compdef conversations
# source <(conversations completion zsh)
_conversations() {
  local path_='' word
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$word" in -*) ;; *) ${nextPath(nodes, 'path_')} ;; esac
  done
  local -a candidates=()
  case "$path_" in
${nodes.map((node) => `    ${quote(node.path)}) candidates=(${describedWords(node).map(quote).join(' ')}) ;;`).join('\n')}
  esac
  _describe 'conversations' candidates || _files
}
if [[ "$funcstack[1]" == _conversations ]]; then _conversations "$@"; else compdef _conversations conversations; fi
`,
  fish: (nodes) => `# conversations completion fish | source
complete -c conversations -f
${nodes.flatMap(fishLines).join('\n')}
`,
};

/** Appends a word to the path where a command of that name exists; other words are arguments. */
const nextPath = (nodes: readonly CompletionNode[], name = 'path'): string => {
  const paths = nodes.filter(({ path }) => path !== '').map(({ path }) => quote(path));
  return `case "\${${name}:+$${name} }$word" in ${paths.join('|')}) ${name}="\${${name}:+$${name} }$word" ;; esac`;
};

const wordsOf = ({ commands, options, values }: CompletionNode): string[] => [
  ...commands.map(({ name }) => name),
  ...values,
  ...options.map(({ flag }) => flag),
];

const describedWords = ({ commands, options, values }: CompletionNode): string[] =>
  [
    ...commands.map(({ name, about }) => [name, about]),
    ...values.map((value) => [value, '']),
    ...options.map(({ flag, about }) => [flag, about]),
  ].map(([word = '', about = '']) => `${word.replaceAll(':', '\\:')}${about === '' ? '' : `:${about}`}`);

function fishLines({ path, commands, options, values }: CompletionNode): string[] {
  const words = path === '' ? [] : path.split(' ');
  const seen = words.map((word) => `__fish_seen_subcommand_from ${word}`);
  const names = commands.map(({ name }) => name).join(' ');
  // A command is offered until one of its siblings was typed.
  const before = [...seen, ...(names === '' ? [] : [`not __fish_seen_subcommand_from ${names}`])].join(
    '; and ',
  );
  const condition = before === '' ? '' : ` -n ${quote(before)}`;
  return [
    ...commands.map(
      ({ name, about }) => `complete -c conversations${condition} -a ${quote(name)} -d ${quote(about)}`,
    ),
    ...values.map((value) => `complete -c conversations${condition} -a ${quote(value)}`),
    ...options.map(
      ({ flag, about, takesValue }) =>
        `complete -c conversations${condition} -l ${flag.slice(2)}${takesValue ? ' -r' : ''} -d ${quote(about)}`,
    ),
  ];
}

const firstLine = (text: string): string => text.split('\n')[0] ?? '';
const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
