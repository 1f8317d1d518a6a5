import type { ReactNode } from 'react';
import { Checkbox } from 'react-aria-components/Checkbox';
import { CheckboxGroup } from 'react-aria-components/CheckboxGroup';
import { FieldError } from 'react-aria-components/FieldError';
import { Input } from 'react-aria-components/Input';
import { Label } from 'react-aria-components/Label';
import { Text } from 'react-aria-components/Text';
import { TextArea } from 'react-aria-components/TextArea';
import {
  type TextFieldProps as AriaProps,
  TextField as AriaTextField,
} from 'react-aria-components/TextField';
import { t } from '../text/language.ts';
import { CheckMark } from './check.tsx';
import styles from './field.module.css';

interface Named {
  label: string;
  hint?: ReactNode;
}

/**
 * A field for text, with its label, what is expected, and what is wrong. @param problem with what is in it,
 * where the browser knows of none
 */
export function TextField({
  label,
  hint,
  isCode = false,
  isMultiline = false,
  placeholder,
  problem,
  ...props
}: Named & {
  isCode?: boolean;
  isMultiline?: boolean;
  placeholder?: string;
  problem?: string | undefined;
} & Omit<AriaProps, 'className' | 'children' | 'style' | 'isInvalid'>) {
  const typed = {
    className: [styles.input, isCode ? styles.mono : ''].join(' '),
    autoComplete: 'off',
    spellCheck: isCode ? ('false' as const) : undefined,
  };
  return (
    <AriaTextField
      {...props}
      {...(problem === undefined ? {} : { isInvalid: true })}
      className={styles.field ?? ''}
    >
      <Label className={styles.label ?? ''}>{label}</Label>
      {hint === undefined ? null : (
        <Notes hint={hint}>
          <Faults limit={0}>{problem}</Faults>
        </Notes>
      )}
      {isMultiline ? <TextArea {...typed} rows={3} /> : <Input {...typed} placeholder={placeholder} />}
      {hint === undefined ? <Faults limit={0}>{problem}</Faults> : null}
    </AriaTextField>
  );
}

/** A hint, in whose place a fault stands: nothing below it moves from under the pointer. */
const Notes = ({ hint, children }: { hint: ReactNode; children: ReactNode }) => (
  <div className={styles.notes}>
    <Text slot="description" className={styles.hint ?? ''}>
      {hint}
    </Text>
    {children}
  </div>
);

/**
 * What is wrong with a field, in the page's language: browsers have texts in their own.
 * @param limit how many have to be chosen; 0 for a text
 */
function Faults({ limit, children }: { limit: number; children?: string | undefined }) {
  const { faults } = t.forms;
  return (
    <FieldError className={styles.error ?? ''}>
      {({ validationDetails: { valueMissing, typeMismatch }, validationErrors }) => {
        if (children !== undefined) return children;
        if (valueMissing) return (limit === 0 ? faults.required : faults.too_few)?.(limit);
        return typeMismatch ? faults.invalid_format?.(0) : validationErrors.join(' ');
      }}
    </FieldError>
  );
}

export interface Choice {
  value: string;
  label: ReactNode;
  hint?: ReactNode;
}

export const Choices = ({
  label,
  hint,
  choices,
  value,
  onChange,
  isRequired = false,
  name,
  actions,
}: Named & {
  choices: readonly Choice[];
  value: readonly string[];
  onChange: (value: string[]) => void;
  isRequired?: boolean;
  name?: string;
  /** What is done with all of them. */
  actions?: ReactNode;
}) => (
  <CheckboxGroup
    className={styles.field ?? ''}
    value={[...value]}
    onChange={onChange}
    isRequired={isRequired}
    {...(name === undefined ? {} : { name })}
  >
    <Label className={styles.label ?? ''}>{label}</Label>
    {hint === undefined ? null : (
      <Notes hint={hint}>
        <Faults limit={1} />
      </Notes>
    )}
    {actions}
    <div className={styles.choices}>
      {choices.map((choice) => (
        <Checkbox key={choice.value} value={choice.value} className={styles.choice ?? ''}>
          <CheckMark />
          <span>
            {choice.label}
            {choice.hint === undefined ? null : ' '}
            {choice.hint === undefined ? null : <span className={styles.meaning}>{choice.hint}</span>}
          </span>
        </Checkbox>
      ))}
    </div>
    {hint === undefined ? <Faults limit={1} /> : null}
  </CheckboxGroup>
);
