// Writes a copy of Swift files in which every mutant is there, behind a switch.
//
//     mutator SOURCES COPY DROPPED FILE …
//
// FILE is a path in both folders. DROPPED is a file of mutants that are left out, by
// their keys, a line each. Standard output names the mutants: number, path, line, where
// it is in the copy (line, column, end line, end column), and key, with tabs between them.
// Mutants.swift is the switch. SwiftSyntax is the toolchain's own.

import Foundation
import SwiftOperators
import SwiftParser
import SwiftSyntax

/// What is put around a part of a file.
struct Wrap {
    let start: Int
    let end: Int
    let prefix: String
    let suffix: String
    let number: Int
    let key: String
    let line: Int
}

final class Mutator: SyntaxVisitor {
    private let path: String
    private let source: [UInt8]
    private let converter: SourceLocationConverter
    private let dropped: Set<String>
    private var next: Int
    private var occurrences: [String: Int] = [:]
    private(set) var wraps: [Wrap] = []

    init(path: String, text: String, tree: SourceFileSyntax, dropped: Set<String>, next: Int) {
        self.path = path
        source = Array(text.utf8)
        converter = SourceLocationConverter(fileName: path, tree: tree)
        self.dropped = dropped
        self.next = next
        super.init(viewMode: .sourceAccurate)
    }

    var nextNumber: Int { next }

    // MARK: Mutants

    private func text(_ node: some SyntaxProtocol) -> String { node.trimmedDescription }

    /// On one line, and not too long.
    private func brief(_ node: some SyntaxProtocol) -> String {
        let words = text(node).split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return words.count <= 60 ? words : words.prefix(57) + "…"
    }

    /// Adds a mutant around a node; the texts get the switch.
    private func add(
        _ change: String, around node: some SyntaxProtocol, _ prefix: (String) -> String, _ suffix: String
    ) {
        let start = node.positionAfterSkippingLeadingTrivia
        let line = converter.location(for: start).line
        let whole = converter.sourceLines[line - 1].trimmingCharacters(in: .whitespacesAndNewlines)
        var key = "\(path): \(whole): \(change)"
        occurrences[key, default: 0] += 1
        if let count = occurrences[key], count > 1 { key += " (\(count))" }
        let number = next
        next += 1
        guard !dropped.contains(key) else { return }
        wraps.append(
            Wrap(
                start: start.utf8Offset, end: node.endPositionBeforeTrailingTrivia.utf8Offset,
                prefix: prefix("Mutants.on(\(number))"), suffix: suffix, number: number, key: key, line: line))
    }

    private func negate(_ node: some SyntaxProtocol, _ change: String) {
        add("\(change): \(brief(node))", around: node, { "(\($0) != (" }, "))")
    }

    /// Negates a condition, unless what stands in it says the same.
    private func negateCondition(_ node: ExprSyntax) {
        let inner = unwrapped(node)
        if inner.is(BooleanLiteralExprSyntax.self) { return }
        if let prefix = inner.as(PrefixOperatorExprSyntax.self), prefix.operator.text == "!" { return }
        if let infix = inner.as(InfixOperatorExprSyntax.self), ["==", "!=", "===", "!=="].contains(name(infix)) {
            return
        }
        if inner.is(IfExprSyntax.self) || inner.is(SwitchExprSyntax.self) { return }
        negate(node, "negated")
    }

    private func unwrapped(_ node: ExprSyntax) -> ExprSyntax {
        if let tuple = node.as(TupleExprSyntax.self), tuple.elements.count == 1, let only = tuple.elements.first {
            return unwrapped(only.expression)
        }
        return node
    }

    private func name(_ infix: InfixOperatorExprSyntax) -> String { infix.operator.trimmedDescription }

    override func visit(_ node: ConditionElementSyntax) -> SyntaxVisitorContinueKind {
        if case .expression(let expression) = node.condition { negateCondition(expression) }
        return .visitChildren
    }

    override func visit(_ node: WhereClauseSyntax) -> SyntaxVisitorContinueKind {
        negateCondition(node.condition)
        return .visitChildren
    }

    override func visit(_ node: RepeatStmtSyntax) -> SyntaxVisitorContinueKind {
        negateCondition(node.condition)
        return .visitChildren
    }

    override func visit(_ node: TernaryExprSyntax) -> SyntaxVisitorContinueKind {
        negateCondition(node.condition)
        return .visitChildren
    }

    override func visit(_ node: PrefixOperatorExprSyntax) -> SyntaxVisitorContinueKind {
        if node.operator.text == "!" { negate(node, "without !") }
        // A literal with a sign is one.
        return node.operator.text == "-" && node.expression.is(IntegerLiteralExprSyntax.self)
            ? .skipChildren : .visitChildren
    }

    override func visit(_ node: InfixOperatorExprSyntax) -> SyntaxVisitorContinueKind {
        let others = [
            "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "===": "!==", "!==": "===", "&&": "||",
            "||": "&&",
            "+": "-", "-": "+", "&+": "&-", "&-": "&+",
        ]
        let name = name(node)
        if name == "+", isList(node) {
            // The rest of a sum of slices need not be a list by itself.
            if !text(node.rightOperand).hasSuffix("...]") {
                swap(node, "without + \(brief(node.rightOperand))", for: text(node.leftOperand))
                swap(node, "without \(brief(node.leftOperand)) +", for: text(node.rightOperand))
            }
        } else if let other = others[name], name != "+" || !isText(node) {
            swap(
                node, "\(name) becomes \(other): \(brief(node))",
                for: "\(text(node.leftOperand)) \(other) \(text(node.rightOperand))")
        }
        return .visitChildren
    }

    private func swap(_ node: InfixOperatorExprSyntax, _ change: String, for other: String) {
        add(change, around: node, { "(\($0) ? (\(other)) : (" }, "))")
    }

    /// Whether a sum is one of lists, as far as can be seen.
    private func isList(_ node: InfixOperatorExprSyntax) -> Bool {
        node.leftOperand.is(ArrayExprSyntax.self) || node.rightOperand.is(ArrayExprSyntax.self)
            || returnType(around: Syntax(node))?.contains("[Action]") == true
    }

    /// Whether a sum is one of strings, as far as can be seen.
    private func isText(_ node: InfixOperatorExprSyntax) -> Bool {
        [node.leftOperand, node.rightOperand].contains {
            $0.is(StringLiteralExprSyntax.self) || $0.as(InfixOperatorExprSyntax.self).map(isText) == true
        }
    }

    override func visit(_ node: BooleanLiteralExprSyntax) -> SyntaxVisitorContinueKind {
        // The compiler knows that `while true` doesn't end.
        let isEndless = node.parent?.parent?.parent?.is(WhileStmtSyntax.self) == true
        guard !isInPattern(Syntax(node)), !isEndless else { return .skipChildren }
        let isTrue = node.literal.tokenKind == .keyword(.true)
        add(
            "\(isTrue) becomes \(!isTrue)", around: node, { "(\($0) != " }, ")")
        return .skipChildren
    }

    override func visit(_ node: IntegerLiteralExprSyntax) -> SyntaxVisitorContinueKind {
        let literal = text(node)
        if literal != "0" {
            add("\(literal) less one", around: node, { "Mutants.less(\($0), " }, ")")
        }
        add("\(literal) and one", around: node, { "Mutants.more(\($0), " }, ")")
        return .skipChildren
    }

    private func isInPattern(_ node: Syntax) -> Bool {
        var node: Syntax? = node
        while let current = node {
            if current.is(ExpressionPatternSyntax.self) { return true }
            if current.is(CodeBlockItemSyntax.self) { return false }
            node = current.parent
        }
        return false
    }

    // MARK: Statements

    override func visit(_ node: CodeBlockItemSyntax) -> SyntaxVisitorContinueKind {
        if let list = node.parent?.as(CodeBlockItemListSyntax.self), isRemovable(node, in: list) {
            add("removed: \(brief(node.item))", around: node.item, { "if !\($0) { " }, " }")
            if case .expr(let expression) = node.item, let infix = expression.as(InfixOperatorExprSyntax.self),
                let other = ["+=": "-=", "-=": "+="][name(infix)], !isText(infix)
            {
                add(
                    "\(name(infix)) becomes \(other)", around: node.item,
                    { "if \($0) { \(text(infix.leftOperand)) \(other) \(text(infix.rightOperand)) } else { " }, " }")
            }
        }
        if case .expr(let expression) = node.item, let list = node.parent?.as(CodeBlockItemListSyntax.self),
            yieldsValue(list, orMay: false)
        {
            result(expression, of: Syntax(node), isImplied: true)
        }
        return .visitChildren
    }

    override func visit(_ node: ReturnStmtSyntax) -> SyntaxVisitorContinueKind {
        if let expression = node.expression { result(expression, of: Syntax(node), isImplied: false) }
        return .visitChildren
    }

    /// Mutants of a value that is returned.
    private func result(_ expression: ExprSyntax, of node: Syntax, isImplied: Bool) {
        guard let type = returnType(around: node) else { return }
        let value = unwrapped(expression)
        if value.is(IfExprSyntax.self) || value.is(SwitchExprSyntax.self) { return }
        if type == "Bool" {
            if value.is(FunctionCallExprSyntax.self) || value.is(DeclReferenceExprSyntax.self)
                || value.is(MemberAccessExprSyntax.self)
            {
                negate(expression, "negated")
            }
            return
        }
        let other =
            type.hasSuffix("?")
            ? "nil" : type.hasPrefix("[") && !type.contains(":") ? "[]" : type == "String" ? "\"\"" : nil
        guard let other, text(value) != other else { return }
        let change = "returns \(other): \(brief(expression))"
        if isImplied {
            add(change, around: node, { "(\($0) ? \(other) : (" }, "))")
        } else {
            add(change, around: node, { "if \($0) { return \(other) }; " }, "")
        }
    }

    /// What the function around a node returns; `nil` if that isn't written down, or nothing.
    private func returnType(around node: Syntax) -> String? {
        var node = node.parent
        while let current = node {
            if let function = current.as(FunctionDeclSyntax.self) {
                return (function.signature.returnClause?.type).map { text($0) }
            }
            if let closure = current.as(ClosureExprSyntax.self) {
                return (closure.signature?.returnClause?.type).map { text($0) }
            }
            if current.is(InitializerDeclSyntax.self) || current.is(DeinitializerDeclSyntax.self) { return nil }
            if let accessor = current.as(AccessorDeclSyntax.self), accessor.accessorSpecifier.text != "get" {
                return nil
            }
            if let binding = current.as(PatternBindingSyntax.self), current.parent?.parent?.parent != nil,
                binding.accessorBlock != nil
            {
                return (binding.typeAnnotation?.type).map { text($0) }
            }
            if let subscripted = current.as(SubscriptDeclSyntax.self) { return text(subscripted.returnClause.type) }
            node = current.parent
        }
        return nil
    }

    /// Whether a list of one statement is the value of what it is in.
    ///
    /// - Parameter orMay: The answer for a closure, of which it isn't known.
    private func yieldsValue(_ list: CodeBlockItemListSyntax, orMay: Bool) -> Bool {
        guard list.count == 1, let owner = list.parent else { return false }
        if owner.is(ClosureExprSyntax.self) { return orMay }
        if owner.is(AccessorBlockSyntax.self) { return true }
        if let switchCase = owner.as(SwitchCaseSyntax.self) {
            guard let whole = switchCase.parent?.parent else { return false }
            return isValue(whole, orMay: orMay)
        }
        guard let above = owner.parent else { return false }
        if let function = above.as(FunctionDeclSyntax.self) {
            return function.signature.returnClause.map { !["Void", "()"].contains(text($0.type)) } ?? false
        }
        if let accessor = above.as(AccessorDeclSyntax.self) { return accessor.accessorSpecifier.text == "get" }
        if above.is(IfExprSyntax.self) { return isValue(above, orMay: orMay) }
        return false
    }

    /// Whether an `if` or a `switch` is an expression with a value.
    private func isValue(_ node: Syntax, orMay: Bool) -> Bool {
        var node = node
        while let parent = node.parent, parent.is(IfExprSyntax.self) { node = parent }
        guard var parent = node.parent else { return false }
        if parent.is(ExpressionStmtSyntax.self), let above = parent.parent { parent = above }
        guard parent.is(CodeBlockItemSyntax.self), let list = parent.parent?.as(CodeBlockItemListSyntax.self) else {
            return true
        }
        return yieldsValue(list, orMay: orMay)
    }

    private func isRemovable(_ item: CodeBlockItemSyntax, in list: CodeBlockItemListSyntax) -> Bool {
        switch item.item {
        case .stmt(let statement):
            let isLastOfGuard = list.parent?.parent?.is(GuardStmtSyntax.self) == true && list.last == item
            if let back = statement.as(ReturnStmtSyntax.self), back.expression == nil {
                return !isLastOfGuard && !isInInitializer(Syntax(item))
                    && !(list.count == 1 && list.parent?.is(SwitchCaseSyntax.self) == true)
            }
            if statement.is(ContinueStmtSyntax.self) || statement.is(BreakStmtSyntax.self) {
                return !isLastOfGuard && list.parent?.is(SwitchCaseSyntax.self) != true
            }
            return false
        case .expr(let expression):
            var inner = expression
            while true {
                if let attempt = inner.as(TryExprSyntax.self) {
                    inner = attempt.expression
                } else if let wait = inner.as(AwaitExprSyntax.self) {
                    inner = wait.expression
                } else {
                    break
                }
            }
            if let infix = inner.as(InfixOperatorExprSyntax.self) {
                guard infix.operator.is(AssignmentExprSyntax.self) || name(infix).hasSuffix("=") else { return false }
                guard !["==", "!=", "===", "!==", "<=", ">="].contains(name(infix)) else { return false }
                return !isFirstAssignment(infix, Syntax(item))
            }
            guard
                let call = inner.as(FunctionCallExprSyntax.self)
                    ?? inner.as(OptionalChainingExprSyntax.self)?
                    .expression.as(FunctionCallExprSyntax.self)
            else { return false }
            let called = text(call.calledExpression)
            let lasting = ["fatalError", "preconditionFailure", "precondition", "assert", "super.init", "self.init"]
            return !lasting.contains(called) && !yieldsValue(list, orMay: true)
        default: return false
        }
    }

    private func isInInitializer(_ node: Syntax) -> Bool {
        var node: Syntax? = node
        while let current = node, !current.is(FunctionDeclSyntax.self), !current.is(ClosureExprSyntax.self) {
            if current.is(InitializerDeclSyntax.self) { return true }
            node = current.parent
        }
        return false
    }

    /// Whether an assignment may be the first one to a property or a constant.
    private func isFirstAssignment(_ infix: InfixOperatorExprSyntax, _ item: Syntax) -> Bool {
        let target = text(infix.leftOperand)
        if target == "_" { return false }
        if isInInitializer(item) { return true }
        let names = target.split { !$0.isLetter && !$0.isNumber }.map(String.init)
        var node: Syntax? = item
        while let current = node {
            if let list = current.as(CodeBlockItemListSyntax.self) {
                let isDeclared = list.contains { other in
                    guard case .decl(let declaration) = other.item,
                        let variable = declaration.as(VariableDeclSyntax.self)
                    else { return false }
                    return variable.bindings.contains {
                        $0.initializer == nil && $0.accessorBlock == nil && names.contains(text($0.pattern))
                    }
                }
                if isDeclared { return true }
            }
            if current.is(FunctionDeclSyntax.self) { return false }
            node = current.parent
        }
        return false
    }

    override func visit(_ node: SwitchCaseSyntax) -> SyntaxVisitorContinueKind {
        guard node.statements.count > 1, let last = node.statements.last,
            !node.statements.contains(where: {
                if case .decl = $0.item { false } else { text($0.item).contains("fallthrough") }
            })
        else { return .visitChildren }
        if case .stmt(let statement) = last.item, let back = statement.as(ReturnStmtSyntax.self) {
            // What follows the `switch` may not return.
            guard back.expression == nil else { return .visitChildren }
        } else if case .stmt(let statement) = last.item, !statement.is(ExpressionStmtSyntax.self) {
            return .visitChildren
        }
        // A path that returns from inside may be needed by the compiler, and so may a first value.
        let isNeeded = node.statements.contains {
            guard case .expr(let expression) = $0.item, let infix = expression.as(InfixOperatorExprSyntax.self) else {
                return text($0.item).contains("return ")
            }
            return isFirstAssignment(infix, Syntax($0))
        }
        guard !isNeeded else { return .visitChildren }
        add("case emptied", around: node.statements, { "if !\($0) { " }, " }")
        return .visitChildren
    }

    private static let predicates: Set<String> = [
        "contains", "allSatisfy", "first", "firstIndex", "last", "lastIndex", "filter", "removeAll", "drop", "prefix",
    ]

    override func visit(_ node: ClosureExprSyntax) -> SyntaxVisitorContinueKind {
        var parent = node.parent
        while let current = parent, !current.is(FunctionCallExprSyntax.self) { parent = current.parent }
        if let call = parent?.as(FunctionCallExprSyntax.self),
            let member = call.calledExpression.as(MemberAccessExprSyntax.self),
            Self.predicates.contains(member.declName.baseName.text), node.statements.count == 1,
            case .expr(let expression)? = node.statements.first?.item,
            call.trailingClosure == node
                || call.arguments.contains(where: { $0.expression.as(ClosureExprSyntax.self) == node })
        {
            negateCondition(expression)
        }
        return .visitChildren
    }

    // MARK: What is left as it is

    override func visit(_ node: IfConfigClauseSyntax) -> SyntaxVisitorContinueKind {
        isActive(node) ? .visitChildren : .skipChildren
    }

    private func isActive(_ clause: IfConfigClauseSyntax) -> Bool {
        func holds(_ clause: IfConfigClauseSyntax) -> Bool {
            guard let condition = clause.condition else { return true }
            return switch text(condition) {
            case "os(Linux)", "canImport(FoundationNetworking)", "canImport(Glibc)", "hasAttribute(nonexhaustive)",
                "!canImport(Darwin)":
                true
            default: false
            }
        }
        for other in clause.parent?.as(IfConfigClauseListSyntax.self) ?? [] {
            if other == clause { return holds(clause) }
            if holds(other) { return false }
        }
        return false
    }

    override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
        ["fatalError", "precondition", "preconditionFailure", "assert", "assertionFailure"]
            .contains(text(node.calledExpression)) ? .skipChildren : .visitChildren
    }

    override func visit(_ node: AttributeSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: EnumCaseElementSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: StringLiteralExprSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: MacroExpansionExprSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: AvailabilityConditionSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: GenericParameterClauseSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: GenericWhereClauseSyntax) -> SyntaxVisitorContinueKind { .skipChildren }

    // MARK: The copy

    /// The mutated text, and where each mutant is in it, as offsets.
    func copy() -> (text: [UInt8], places: [(start: Int, end: Int)]) {
        // At one place the inner ones end first, and the outer ones begin first.
        struct Edge {
            let offset: Int
            let isStart: Bool
            let index: Int
        }
        var edges: [Edge] = []
        for (index, wrap) in wraps.enumerated() {
            edges.append(Edge(offset: wrap.start, isStart: true, index: index))
            edges.append(Edge(offset: wrap.end, isStart: false, index: index))
        }
        edges.sort {
            if $0.offset != $1.offset { return $0.offset < $1.offset }
            if $0.isStart != $1.isStart { return !$0.isStart }
            return $0.isStart ? $0.index < $1.index : $0.index > $1.index
        }
        var text: [UInt8] = []
        var places = Array(repeating: (start: 0, end: 0), count: wraps.count)
        var position = 0
        for edge in edges {
            text += source[position..<edge.offset]
            position = edge.offset
            let wrap = wraps[edge.index]
            if edge.isStart {
                places[edge.index].start = text.count
                text += wrap.prefix.utf8
            } else {
                text += wrap.suffix.utf8
                places[edge.index].end = text.count
            }
        }
        text += source[position...]
        return (text, places)
    }
}

/// Line and column of offsets in a text.
struct Lines {
    private var starts = [0]

    init(_ text: [UInt8]) {
        for (offset, byte) in text.enumerated() where byte == 10 { starts.append(offset + 1) }
    }

    func place(of offset: Int) -> String {
        var (low, high) = (0, starts.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if starts[middle] <= offset { low = middle } else { high = middle }
        }
        return "\(low + 1)\t\(offset - starts[low] + 1)"
    }
}

@main
enum Program {
    static func main() throws {
        let arguments = CommandLine.arguments
        let sources = URL(fileURLWithPath: arguments[1])
        let copies = URL(fileURLWithPath: arguments[2])
        let dropped = Set(
            try String(contentsOfFile: arguments[3], encoding: .utf8).split(separator: "\n").map(String.init))
        var next = 1
        for path in arguments[4...] {
            let text = try String(contentsOf: sources.appendingPathComponent(path), encoding: .utf8)
            let parsed = Parser.parse(source: text)
            let folded = OperatorTable.standardOperators.foldAll(parsed) { _ in }
            guard let tree = folded.as(SourceFileSyntax.self) else { continue }
            let mutator = Mutator(path: path, text: text, tree: tree, dropped: dropped, next: next)
            mutator.walk(tree)
            next = mutator.nextNumber
            let (copy, places) = mutator.copy()
            let lines = Lines(copy)
            let target = copies.appendingPathComponent(path)
            let data = Data(copy)
            // A file that is as before isn't compiled again.
            if (try? Data(contentsOf: target)) != data { try data.write(to: target) }
            for (wrap, place) in zip(mutator.wraps, places) {
                print(
                    wrap.number, path, wrap.line, lines.place(of: place.start), lines.place(of: place.end), wrap.key,
                    separator: "\t")
            }
        }
    }
}
